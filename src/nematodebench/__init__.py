"""NematodeBench: is my brain better than chance, than the reference, than yours, and can anyone check it?"""

"""Every claimed run is executed again, fresh runs are measured on seeds nobody chose, and the result is signed."""

"""What ``scripts/command_pages.py`` executes for the pages of commands, in this order, in one clone.

A line may name ``{submission}`` and ``{key}``: the file that was submitted last, and the id of the key that was made.
"""

__all__ = ["EXAMPLES", "FILES"]

FILES = {
    "rule.py": '''"""A worm that goes where the odour is stronger."""


def follow(observation):
    strength, sine, cosine, satiety, touch = observation
    if cosine > 0 and cosine >= abs(sine):
        return 0  # forward
    return 2 if sine > 0 else 1  # right or left
''',
}

EXAMPLES: dict[str, list[tuple[str, str]]] = {
    "info": [("What is installed, and where compiled code is kept:", "nematodebench info")],
    "board": [
        ("The board of one task:", "nematodebench board show --task foraging_small-v2"),
        ("Whether the files that show it are current:", "nematodebench board regenerate --check"),
        ("Whether a proposal would be refused:", "nematodebench board gate --base HEAD --author your-name"),
    ],
    "tasks": [
        ("All tasks in a list, here its beginning:", "nematodebench tasks"),
        ("One task in full, here the beginning of its page:", "nematodebench tasks foraging_small-v2"),
    ],
    "brains": [
        ("All brains:", "nematodebench brains"),
        ("One brain with its parameters:", "nematodebench brains q_table"),
    ],
    "run": [
        (
            "Two brains on one task, with a seed:",
            "nematodebench run association-v2 q_table null_random --runs 10 --seed 1",
        ),
        (
            "What a session would cost, without running it:",
            "nematodebench run foraging_small-v2 mlp_ppo --runs 50 --seed 1 --dry-run",
        ),
        (
            "A parameter of the brain, and the same brain with learning off:",
            "nematodebench run association-v2 spiking_rstdp --runs 10 --seed 1 --set learning_rate=0.2 --twin",
        ),
        (
            "A session that is stored:",
            "nematodebench run association-v2 q_table --runs 20 --seed 1 --track --output kept/table",
        ),
        (
            "Another one, to be compared with it:",
            "nematodebench run association-v2 spiking_rstdp --runs 20 --seed 1 --track --output kept/spikes",
        ),
    ],
    "rerun": [("The fourth run of a stored session:", "nematodebench rerun kept/table/* --run 3")],
    "report": [("The tables of stored sessions again:", "nematodebench report kept/table/* kept/spikes/*")],
    "compare": [
        (
            "Two folders with a session each; the runs are paired by their seeds:",
            "nematodebench compare kept/table kept/spikes",
        )
    ],
    "watch": [
        (
            "One episode of a hand-written policy as a moving picture:",
            "nematodebench watch foraging_small-v2 --brain gradient_follower --seed 1 --episodes 20 --gif worm.gif",
        )
    ],
    "serve": [
        (
            "The sessions of a folder in a browser on this machine, here for two seconds:",
            "nematodebench serve artifacts/experiments --seconds 2",
        ),
    ],
    "plot": [
        (
            "Learning curves of both, with bands:",
            "nematodebench plot curves kept/table kept/spikes --output curves.svg",
        )
    ],
    "sweep": [
        (
            "Two brains on two tasks:",
            "nematodebench sweep --tasks association-v2,gridworld-v2 --brains q_table,null_random --runs 5 --seed 1",
        )
    ],
    "search": [
        (
            "A short search; an honest one has more trials:",
            "nematodebench search q_table --task association-v2 --trials 10 --runs 4 --held-out 10 --seed 1",
        )
    ],
    "ablate": [
        (
            "Two mechanisms of a spiking network:",
            "nematodebench ablate spiking_rstdp --task association-v2 --runs 10 --seed 1 --only learning_rate,slots",
        )
    ],
    "continual": [
        (
            "Two environments one after another, with few episodes:",
            "nematodebench continual q_table --order gridworld,association --episodes 5 --runs 4 --seed 7 --no-alone",
        )
    ],
    "score": [
        ("A rule in a file:", "cat rule.py"),
        ("Its score:", "nematodebench score rule.py:follow --task foraging_small-v2 --runs 5 --seed 1"),
    ],
    "new": [
        ("A brain to begin with:", "nematodebench new brain my_brain --python"),
        ("A world to begin with:", "nematodebench new world my_world"),
    ],
    "check": [("The brain that `new` wrote:", "nematodebench check my_brain.py:MyBrain --tasks association-v2")],
    "calibrate": [
        ("The stored anchors of one task, measured again:", "nematodebench calibrate association-v2 --check")
    ],
    "submit": [
        (
            "Ten sessions from a config that is committed:",
            "nematodebench run --config configs/q_table_association_v2.yml --track --sessions 10 --seed 1000",
        ),
        (
            "They become a submission:",
            'nematodebench submit --experiments experiments/* --contributor "Your Name" --github your-name',
        ),
    ],
    "evaluate": [
        (
            "Everything is computed again, and five runs are executed again:",
            "nematodebench evaluate {submission} --reproduce 5",
        )
    ],
    "verify": [
        (
            "Fifty claimed runs again, and fifty on fresh seeds. Without a key nothing is stored:",
            "nematodebench verify {submission} --runs 50",
        )
    ],
    "keys": [
        ("A key for a maintainer:", 'nematodebench keys new ../maintainer.pem --owner "A maintainer"'),
        ("All keys:", "nematodebench keys list"),
        (
            "An entry leaves the board:",
            'nematodebench keys withdraw {submission} --key ../maintainer.pem --reason "an example"',
        ),
        ("A key that nobody shall believe any more:", 'nematodebench keys revoke {key} --reason "an example"'),
    ],
}

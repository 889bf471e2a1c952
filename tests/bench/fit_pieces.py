"""Fit the odds of the piece reader on drawn pictures (`draw_pieces.py`) and measure it on others.

python tests/bench/fit_pieces.py fit vision/data/pieces.json --pictures 600 --seed 3
python tests/bench/fit_pieces.py measure --pictures 300 --seed 4
"""

import argparse
import math
import time
from pathlib import Path

import cv2
import numpy as np
from draw_pieces import draw_scene
from scores import Answer, Score, reliability

from vision import pieces, pieces_find, pieces_odds

SHAPE = (450, 600)
SHOWN = 0.25  # of a piece that can be asked for
CUT = 1 / 3  # of the pictures only are fitted for the candidates, the rest for the count


def scene(seed):
    """A picture with things of any size that lets a person count them."""
    rng = np.random.default_rng([seed, 77])
    return draw_scene(seed, SHAPE, size_px=math.exp(rng.uniform(math.log(16), math.log(110))), most=40, empty=0.04)


def truth_of(drawn):
    """How many things show enough of themselves."""
    return int((drawn.shown >= SHOWN).sum())


def right_ones(drawn, candidates):
    """Which candidates are things, each thing once, the highest first."""
    taken, right = set(), np.zeros(len(candidates), bool)
    for i in sorted(range(len(candidates)), key=lambda i: -candidates[i].height):
        x, y = candidates[i].middle
        rows, columns = drawn.owners.shape
        owner = int(drawn.owners[min(max(int(y), 0), rows - 1), min(max(int(x), 0), columns - 1)])
        if owner < 0 and len(drawn.middles):
            away = np.hypot(*(drawn.middles - (x, y)).T)
            owner = int(away.argmin()) if away.min() < 0.4 * candidates[i].size_px else -1
        right[i] = owner >= 0 and owner not in taken
        taken.add(owner)
    return right


def logistic(values, truth, ridge=1.0):
    """Newton's rounds with a little ridge."""
    weights = np.zeros(values.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(values @ weights, -12, 12)))
        slope = values.T @ (truth - chance) - ridge * weights
        bend = (values * (chance * (1 - chance))[:, None]).T @ values + ridge * np.eye(len(weights))
        weights += np.linalg.solve(bend, slope)
    return tuple(round(float(w), 4) for w in weights)


def fit(args):
    drawn = [scene(args.seed * 1_000_000 + i) for i in range(args.pictures)]
    found = [pieces_find.find(d.picture) for d in drawn]
    split = int(len(drawn) * CUT)
    rows, truth = [], []
    for d, f in zip(drawn[:split], found[:split], strict=True):
        usual = pieces_odds.usual_px(f)
        rows += [pieces_odds.about_candidate(c, usual, f.ground) for c in f.candidates]
        truth += right_ones(d, f.candidates).tolist()
    candidate = logistic(np.array(rows), np.array(truth, float))
    odds = pieces_odds.Odds(candidate, (0.0,))
    chances = [odds.chances(f) for f in found]
    rows = [pieces_odds.about_count(c, f) for c, f in zip(chances[split:], found[split:], strict=True)]
    right = [pieces_odds.counted(c) == truth_of(d) for c, d in zip(chances[split:], drawn[split:], strict=True)]
    odds = pieces_odds.Odds(candidate, logistic(np.array(rows), np.array(right, float)))
    args.numbers.write_text(odds.dumps())
    print(odds, f"right {np.mean(right):.3f}")


def measure(args):
    score, kinds = Score(), {}
    for i in range(args.pictures):
        drawn = scene(args.seed * 1_000_000 + i)
        start = time.process_time()
        reading = pieces.read(drawn.picture)
        ms, truth = 1000 * (time.process_time() - start), truth_of(drawn)
        answer = Answer(str(i), reading.count == truth, abs(reading.count - truth), reading.confidence, ms)
        score.answers.append(answer)
        kinds.setdefault(drawn.kind, Score()).answers.append(answer)
    print(score.line("drawn"), *reliability(score), sep="\n  ")
    for kind, part in sorted(kinds.items()):
        print(part.line("  " + kind))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run in (("fit", fit), ("measure", measure)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        if name == "fit":
            command.add_argument("numbers", type=Path)
        command.add_argument("--pictures", type=int, default=300)
        command.add_argument("--seed", type=int, default=3 if name == "fit" else 4)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    args.run(args)


if __name__ == "__main__":
    main()

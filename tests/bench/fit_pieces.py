"""Fit the odds of the piece reader on drawn pictures (`draw_pieces.py`) and measure it on others.

python -m tests.bench.fit_pieces fit vision/data/pieces.json --pictures 600 --seed 3
python -m tests.bench.fit_pieces measure --pictures 300 --seed 4
"""

import argparse
import math
import time
from pathlib import Path

import cv2
import numpy as np

from tests.bench.draw_pieces import draw_scene
from tests.bench.scores import Answer, Score, reliability
from vision import pieces, pieces_find, pieces_odds

SHAPE = (330, 440)
SHOWN = 0.25  # of a piece that can be asked for
CLEAR = 0.7  # of nearly all pieces can be seen, as where somebody wants a picture counted
HONING = 400
START = (-0.7, 1.3, 2.4, -2.0, -1.0, 1.0, 0.0, 2.0)


def scene(seed):
    """A picture with things of any size that lets a person count them."""
    rng = np.random.default_rng([seed, 77])
    size_px = math.exp(rng.uniform(math.log(14), math.log(80)))
    for part in range(20):
        drawn = draw_scene([seed, part], SHAPE, size_px=size_px, most=40, empty=0.04)
        seen = drawn.shown[drawn.shown > 0]
        if not len(seen) or np.mean(seen > CLEAR) > 0.9:
            break
    return drawn


def truth_of(drawn):
    """How many things show enough of themselves."""
    return int((drawn.shown >= SHOWN).sum())


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
    """Candidates by the first half of the pictures, the confidence of the whole count by the second."""
    drawn = [scene(args.seed * 1_000_000 + i) for i in range(args.pictures)]
    looks = [pieces_find.find(d.picture) for d in drawn]
    half = len(drawn) // 2
    candidate = candidate_weights(drawn[:half], [f[0] for f in looks[:half]], np.random.default_rng(args.seed))
    rows, right = [], []
    for d, founds in zip(drawn[half:], looks[half:], strict=True):
        parted = [pieces_odds.part(pieces_odds.Odds(candidate, (0.0,)).chances(f)) for f in founds]
        best = max(range(len(parted)), key=lambda i: parted[i].gap)
        others = [p for i, p in enumerate(parted) if i != best]
        rows.append(pieces_odds.about_count(parted[best], others, founds[best]))
        right.append(parted[best].count == truth_of(d))
    odds = pieces_odds.Odds(candidate, logistic(np.array(rows), np.array(right, float)))
    args.numbers.write_text(odds.dumps())
    print(odds, f"right {np.mean(right):.3f}")


def candidate_weights(drawn, found, rng):
    """From START on, steps by chance that make whole counts exact more often, as a single candidate's fit does not."""
    rows = [[pieces_odds.about_candidate(c, pieces_odds.usual_px(f), f.ground) for c in f.candidates] for f in found]
    weights = np.array(START)
    counts = [(np.array(many).reshape(-1, len(weights)), truth_of(d)) for many, d in zip(rows, drawn, strict=True)]
    best = worth(counts, weights)
    for _ in range(HONING):
        tried = weights + rng.normal(0, 0.25, len(weights))
        if (found_worth := worth(counts, tried)) >= best:
            weights, best = tried, found_worth
    return tuple(round(float(w), 3) for w in weights)


def worth(counts, weights):
    """The share of exact counts, less a little for each one that is missed."""
    chances = [1 / (1 + np.exp(-np.clip(values @ weights, -12, 12))) for values, _ in counts]
    off = [min(abs(pieces_odds.part(c).count - truth), 4) for c, (_, truth) in zip(chances, counts, strict=True)]
    return np.mean(np.equal(off, 0)) - 0.06 * np.mean(off)


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

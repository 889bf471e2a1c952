"""The two methods that anybody would try first, run on the same pictures in the same run as ours."""

from __future__ import annotations

import cv2
import numpy as np

from vision.pictures import Picture

CHANGED_LEVELS = 40


def watershed(picture: Picture, brighter: bool) -> int:
    """Count by the steps of docs.opencv.org, "Image Segmentation with Watershed Algorithm": markers less background.

    `brighter`: the things are brighter than what they lie on, so the threshold looks upwards.
    """
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    way = cv2.THRESH_BINARY if brighter else cv2.THRESH_BINARY_INV
    _, mask = cv2.threshold(grey, 0, 255, way + cv2.THRESH_OTSU)
    opened = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8), iterations=2)
    background = cv2.dilate(opened, np.ones((3, 3), np.uint8), iterations=3)
    distance = cv2.distanceTransform(opened, cv2.DIST_L2, 5)
    core = np.asarray(cv2.threshold(distance, 0.7 * distance.max(), 255, 0)[1], np.uint8)
    markers = np.asarray(cv2.connectedComponents(core)[1] + 1, np.int32)
    markers[cv2.subtract(background, core) == 255] = 0
    return len(set(np.unique(cv2.watershed(picture, markers))) - {-1, 0, 1})


def difference(picture: Picture, empty: Picture, area_px: float) -> int:
    """Count by what differs from the picture without the things, over the area of one of them."""
    changed = cv2.absdiff(cv2.GaussianBlur(picture, (5, 5), 0), cv2.GaussianBlur(empty, (5, 5), 0)).max(axis=2)
    return round(float(np.count_nonzero(changed > CHANGED_LEVELS)) / area_px)


def floor(picture: Picture, empty: Picture) -> int:
    """Do the least that any reader must: one difference and one labelling; return the number of regions."""
    changed = cv2.absdiff(picture, empty).max(axis=2)
    mask = np.asarray(cv2.threshold(changed, CHANGED_LEVELS, 1, cv2.THRESH_BINARY)[1], np.uint8)
    return cv2.connectedComponents(mask)[0] - 1


def things_are_brighter(empty: Picture, with_things: Picture) -> bool:
    """Say whether what was laid down is brighter than what it lies on."""
    before, now = (cv2.cvtColor(p, cv2.COLOR_BGR2GRAY).astype(np.float32) for p in (empty, with_things))
    changed = cv2.absdiff(empty, with_things).max(axis=2) > CHANGED_LEVELS
    return bool(changed.any() and now[changed].mean() > before[changed].mean())


def thing_area_px(empty: Picture, with_things: Picture, things: int) -> float:
    """Return the area of one thing as this method would learn it: what differs in a picture of a known number."""
    changed = cv2.absdiff(cv2.GaussianBlur(with_things, (5, 5), 0), cv2.GaussianBlur(empty, (5, 5), 0)).max(axis=2)
    return max(float(np.count_nonzero(changed > CHANGED_LEVELS)) / things, 1.0)

"""The net answers each asker about its own picture, also when several ask at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from vision import net


def test_pictures_of_several_sizes_read_at_once_are_read_as_one_by_one(cluttered) -> None:
    whole, empty = cluttered.picture("shake00.jpg"), cluttered.picture("empty.jpg")
    parts = [(slice(0, rows), slice(0, columns)) for rows, columns in ((160, 160), (320, 240), (208, 400), (400, 304))]
    alone = [net.see(whole[part], empty[part]).centre for part in parts]
    with ThreadPoolExecutor(4) as several:
        together = list(several.map(lambda part: net.see(whole[part], empty[part]).centre, parts * 6))
    for number, seen in enumerate(together):
        np.testing.assert_allclose(seen, alone[number % len(parts)], atol=1e-4)

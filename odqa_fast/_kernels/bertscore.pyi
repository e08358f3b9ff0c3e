import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float32]
_Numbers = npt.NDArray[np.int64]

def normalize(vectors: _Floats) -> None: ...
def match(
    vectors: _Floats,
    weights: _Floats,
    edges: _Numbers,
    hypotheses: _Numbers,
    references: _Numbers,
    out: npt.NDArray[np.float64],
    floor: float,
) -> None: ...

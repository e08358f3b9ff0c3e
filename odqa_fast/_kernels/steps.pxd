"""Rules as the kernels share them: steps of a normalizer, and the names that C++ has for rules."""

from libcpp.vector cimport vector

cdef extern from "../core/steps.hpp" namespace "odqa" nogil:
    enum class Step:
        pass
    enum class Form:
        as_is
        stripped
    cdef cppclass Steps:
        Steps()
        Steps(const vector[Step]& steps) except +
        Form form()
    const char* const* step_names


cdef inline tuple names_of(const char* const* names):
    """The names that stand beside an enum of C++, in its order."""
    found = []
    cdef size_t at = 0
    while names[at] != NULL:
        found.append(names[at].decode())
        at += 1
    return tuple(found)


cdef inline int place_of(str name, const char* const* names) except -1:
    """Which of the names it is.

    Raises:
        ValueError: none; says which there are.
    """
    known = names_of(names)
    if name not in known:
        raise ValueError(f"{name!r} is none of {', '.join(known)}")
    return known.index(name)


cdef inline int take_steps(names, Steps& out) except -1:
    """Makes a normalizer of the names of its steps.

    Raises:
        ValueError: a name that is no step, or steps that make no normalizer.
    """
    cdef vector[Step] steps
    for name in names:
        steps.push_back(<Step>place_of(name, step_names))
    out = Steps(steps)
    return 0

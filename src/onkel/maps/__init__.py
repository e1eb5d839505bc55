"""Feature maps z(x) with <z(x), z(s)> close to a kernel, and the verbs they share."""

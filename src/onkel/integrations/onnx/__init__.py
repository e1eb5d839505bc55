"""Models as ONNX graphs: standardisation, features, scores, labels and probabilities, as they stand.

A graph computes in the type of the model and in its order, as far as a runtime lets it: phases of many turns are
rounded as ours are, then. What a piece becomes is chosen by its type, as everywhere.
"""

from onkel.integrations.onnx.exporting import to_onnx as to_onnx

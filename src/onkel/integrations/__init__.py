"""The same learners for other libraries: scikit-learn, river, ONNX.

Each translates conventions, and leaves all decisions to `model`. A library is imported only by its own integration.
"""

// Placeholder until the layer has code.

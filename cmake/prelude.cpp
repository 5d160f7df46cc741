// Empty: the precompiled header needs a source that it is compiled with.

# Read by llama.cpp's own CMakeLists (CMAKE_PROJECT_llama.cpp_INCLUDE). llama-cpp-python forces the
# cache variable on; a normal variable set here wins. An embedder needs none of these objects, and
# without them the build takes three minutes instead of seven and a half on two cores.
set(LLAMA_BUILD_COMMON OFF)

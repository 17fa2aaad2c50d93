# find_package(tenure): the library as the target tenure::tenure.
include(${CMAKE_CURRENT_LIST_DIR}/tenureTargets.cmake)

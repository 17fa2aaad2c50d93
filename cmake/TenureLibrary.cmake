# The public library: one shared object with everything behind include/tenure, and the files that
# find_package(tenure) needs. `cmake --install BUILD --component library` installs it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

file(WRITE ${CMAKE_BINARY_DIR}/generated/library.cpp
     "// The library is made of the modules that it links.\n")
add_library(tenure_library SHARED ${CMAKE_BINARY_DIR}/generated/library.cpp)
add_library(tenure::tenure ALIAS tenure_library)
set_target_properties(tenure_library PROPERTIES
  OUTPUT_NAME tenure EXPORT_NAME tenure VERSION ${PROJECT_VERSION} SOVERSION 0)
target_include_directories(tenure_library INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tenure_library INTERFACE cxx_std_20)
# What the public headers declare is in these, whole; of the other modules comes along what they use.
target_link_libraries(tenure_library PRIVATE
  -Wl,--whole-archive $<TARGET_FILE:tenure_client_leases> $<TARGET_FILE:tenure_client>
  -Wl,--no-whole-archive tenure_client)
add_dependencies(tenure_library tenure_client)

install(TARGETS tenure_library EXPORT tenureTargets COMPONENT library)
install(DIRECTORY include/tenure DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT tenureTargets NAMESPACE tenure:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tenure
        COMPONENT library)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/tenureConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_SOURCE_DIR}/cmake/tenureConfig.cmake
              ${CMAKE_BINARY_DIR}/generated/tenureConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tenure COMPONENT library)
install(TARGETS tenure DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

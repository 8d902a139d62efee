# What other programs use: the library up to the gate, and the header of plug-ins.
#
#   cmake --install BUILD --component library --prefix PREFIX
#
# Then, with PREFIX in CMAKE_PREFIX_PATH (examples/admission_library, examples/policy_plugin):
#
#   find_package(InferScale REQUIRED)
#   target_link_libraries(program PRIVATE InferScale::admission)      # the gate: C++23
#   target_link_libraries(plugin PRIVATE InferScale::policy_plugin)   # the header alone: C11
#
# Headers are included as here: "admission/gate.h", "base/result.h".
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(library_modules base core admission)
list(TRANSFORM library_modules PREPEND inferscale_ OUTPUT_VARIABLE library_targets)
foreach(module IN LISTS library_modules ITEMS options policy_plugin)
  set_target_properties(inferscale_${module} PROPERTIES EXPORT_NAME ${module})
endforeach()

install(TARGETS ${library_targets} inferscale_options EXPORT InferScaleTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/inferscale COMPONENT library)
install(TARGETS inferscale_policy_plugin EXPORT InferScaleTargets
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/InferScale)
install(EXPORT InferScaleTargets NAMESPACE InferScale:: DESTINATION ${package_folder}
  COMPONENT library)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/InferScaleConfig.cmake.in
  ${CMAKE_BINARY_DIR}/InferScaleConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/InferScaleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/InferScaleConfig.cmake
              ${CMAKE_BINARY_DIR}/InferScaleConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT library)

# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: programs under libexec, examples, schemas and units beside the documentation.
set(BURST_LIBEXECDIR "${CMAKE_INSTALL_LIBEXECDIR}/slurm-burst")
install(TARGETS resume suspend change_state generate_conf RUNTIME DESTINATION "${BURST_LIBEXECDIR}")
install(DIRECTORY config/ DESTINATION "${CMAKE_INSTALL_DATADIR}/slurm-burst" USE_SOURCE_PERMISSIONS)
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md")
install(FILES README.md CHANGELOG.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: programs under libexec, examples, schemas and units beside the documentation. Modes are
# said here and are neither those of the checkout nor of the umask: SlurmUser has to read and run what root installs, and
# slurmctld runs no program that its group can write.
set(BURST_LIBEXECDIR "${CMAKE_INSTALL_LIBEXECDIR}/slurm-burst")
set(read_all OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
set(run_all ${read_all} OWNER_EXECUTE GROUP_EXECUTE WORLD_EXECUTE)
# A folder that is made on the way to a file would get the umask's mode: these are made for themselves.
foreach(folder "${CMAKE_INSTALL_LIBEXECDIR}" "${BURST_LIBEXECDIR}" "${CMAKE_INSTALL_DATADIR}"
        "${CMAKE_INSTALL_DATADIR}/slurm-burst" "${CMAKE_INSTALL_DATADIR}/doc" "${CMAKE_INSTALL_DOCDIR}")
  install(DIRECTORY DESTINATION "${folder}" DIRECTORY_PERMISSIONS ${run_all})
endforeach()
install(TARGETS resume suspend change_state generate_conf RUNTIME DESTINATION "${BURST_LIBEXECDIR}" PERMISSIONS ${run_all})
install(DIRECTORY config/ DESTINATION "${CMAKE_INSTALL_DATADIR}/slurm-burst" FILE_PERMISSIONS ${read_all}
        DIRECTORY_PERMISSIONS ${run_all} PATTERN get_nodename EXCLUDE)
install(PROGRAMS config/get_nodename DESTINATION "${CMAKE_INSTALL_DATADIR}/slurm-burst" PERMISSIONS ${run_all})
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILE_PERMISSIONS ${read_all} DIRECTORY_PERMISSIONS ${run_all}
        FILES_MATCHING PATTERN "*.md")
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" PERMISSIONS ${read_all})

# Installation; filled in once there is a public library.

/** The version of Lattice, as package.json has it (a test compares them): a bundle has no package.json beside it. */
export const PROGRAM_VERSION = "0.1.0";

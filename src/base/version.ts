/** The version of Lattice; a test compares it with package.json, which a bundle does not contain. */
export const PROGRAM_VERSION = "0.1.0";

/** Patterns of texts in a Score file, from its public JSON Schema. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/;
export const TYPE = /^[A-Za-z0-9][A-Za-z0-9-]{0,61}[A-Za-z0-9]$/;
export const ID = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/;
export const MEMORY = /^(0\.\d+|[1-9]\d*(\.\d+)?)(K|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/;
export const CPU = /^\d+(?:m|\.\d+)?$/;
export const MODE = /^0?[0-7]{3}$/;

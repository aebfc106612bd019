/** Brands: a string that was checked has another type than one that was not. Only a `parseX` makes one. */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

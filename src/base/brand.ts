/** Brands: a validated string has another type than an unvalidated one. Only a `parseX` function creates one. */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

declare const CHAINSIEVE_VERSION: string

/** In every browser that the console supports, and not in TypeScript's library yet. */
interface JSON {
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): object
}

/** JSON as it was written: a number is its text, so that none loses digits. */
export type Value = null | boolean | string | Raw | Value[] | { [name: string]: Value }

export interface Raw {
  /** No name that a body has. */
  readonly raw: string
  readonly [RAW]: true
}

const RAW = Symbol('the text of a number')

export const raw = (text: string): Raw => ({ raw: text, [RAW]: true })

export const isRaw = (value: unknown): value is Raw => typeof value === 'object' && value !== null && RAW in value

export const isRecord = (value: unknown): value is { [name: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRaw(value)

/** Undefined where the text is no JSON. */
export const readJson = (text: string): Value | undefined => {
  const keep = (_: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' ? raw(context.source!) : value
  try {
    return JSON.parse(text, keep as (key: string, value: unknown) => unknown) as Value
  } catch {
    return undefined
  }
}

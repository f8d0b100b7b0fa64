import type { Member, Metric } from '../result.ts'

/** Writes a number for a member with `_as_string`; undefined where the field and the request name no format. */
export type Format = ((value: number) => string) | undefined

/** A metric of one number, null where nothing was counted. */
export const single = (type: string, value: number | null, format: Format): Metric => {
  const body: Member[] = [['value', value]]
  if (format && value !== null) body.push(['value_as_string', format(value)])
  return { is: 'metric', type, body, number: rest => (rest === undefined || rest === 'value' ? value : undefined) }
}

/** A metric that counts. */
export const counting = (type: string, value: number): Metric => ({
  is: 'metric',
  type,
  body: [['value', BigInt(value)]],
  number: rest => (rest === undefined || rest === 'value' ? value : undefined),
})

/** A number that a path names, of those that have names. */
export const named =
  (numbers: ReadonlyMap<string, number | null>): Metric['number'] =>
  rest =>
    rest === undefined ? undefined : numbers.get(rest)

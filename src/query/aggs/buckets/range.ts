import type { Format, RangeOf, SpecOf } from '../ast.ts'
import { javaDouble } from '../java-double.ts'
import type { Bucket, Member } from '../result.ts'

/** What tells the bucket of a range. */
export const rangeKey = (
  range: RangeOf,
  { kind, keyed, format }: Pick<SpecOf<'range' | 'date_range'>, 'kind' | 'keyed' | 'format'>,
): Pick<Bucket, 'name' | 'key' | 'number'> => {
  const name = range.key ?? `${edge(range.from, format)}-${edge(range.to, format)}`
  return {
    name,
    key: [
      ...(keyed ? [] : [['key', name] as Member]),
      ...edgeMembers('from', range.from, format),
      ...edgeMembers('to', range.to, format),
    ],
    ...(kind === 'date_range' && range.from !== undefined && { number: range.from }),
  }
}

const edge = (value: RangeOf['from'], format: Format | undefined): string =>
  value === undefined ? '*' : (format?.(value) ?? javaDouble(value))

const edgeMembers = (name: string, value: number | undefined, format: Format | undefined): Member[] => {
  if (value === undefined) return []
  return format
    ? [
        [name, value],
        [`${name}_as_string`, format(value)],
      ]
    : [[name, value]]
}

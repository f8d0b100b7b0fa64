import type { Kind } from '../../api/wire.ts'

/** A path that queries may name. */
export interface FieldInfo {
  path: string
  /** What `_source` shows it as, such as `value` of `value.dec`. */
  shownAs: string
  /** As Elasticsearch types it. */
  type: string
  /** Compared as a number, of any size. */
  isNumber: boolean
  /** Within a list. */
  isInList: boolean
  kinds: Kind[]
  meaning: string
}

export interface ClauseInfo {
  name: string
  meaning: string
  /** `{"term": {FIELD: …}}` */
  isFieldwise: boolean
  members: readonly string[]
}

export interface Catalogue {
  fields: ReadonlyMap<string, FieldInfo>
  clauses: readonly ClauseInfo[]
}

/** The fields that some of the kinds have. */
export const fieldsOf = ({ fields }: Catalogue, kinds: readonly Kind[]): FieldInfo[] =>
  [...fields.values()].filter(field => field.kinds.some(kind => kinds.includes(kind)))

/** By which path the values of a shown field are sorted; undefined where they cannot be. */
export const sortPath = ({ fields }: Catalogue, shown: string): string | undefined =>
  [`${shown}.dec`, `${shown}.raw`, shown].find(path => {
    const field = fields.get(path)
    return field && field.type !== 'text' && !field.isInList
  })

import type { Collapse, SearchRequest } from '../../query/request.ts'
import type { Dsl } from './dsl.ts'
import { cellOf } from './sort-key.ts'
import { unsupported } from './unsupported.ts'

/** Hits of one value are one. What has no value is one group. Hits of groups are searches of their own. */
export const compileCollapse = ({ name, fields }: Collapse, { parts }: SearchRequest): Dsl => {
  const cells = new Set(parts.map(({ kind }) => (fields[kind] ? cellOf(fields[kind]) : undefined)))
  const [cell] = cells
  if (cells.size > 1 || cell === undefined)
    throw unsupported(`collapse by ${name} of several kinds`, 'not all of them have it: search those that do')
  return { field: cell }
}

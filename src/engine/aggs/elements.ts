import type { AbiParam } from '../../decode/types.ts'
import { type Kind, lookup } from '../../mapping/index.ts'
import { columnSource } from '../query/column-source.ts'
import { positionOfOrdinal } from '../query/places.ts'
import type { Reader } from '../reader.ts'
import { type At, type Batch, ordinalAt } from './batch.ts'
import { foundIn } from './columns.ts'
import type { Stores } from './sources.ts'
import { gathered } from './values.ts'

/** Arguments of events or calls of one segment. */
export interface Elements {
  /** Ordinals of the documents that they are of. */
  documents: Uint32Array
  /** Of each its place in `roles`. */
  role: Uint32Array
  roles: readonly Role[]
}

/** What arguments of one signature at one position have in common. */
export interface Role {
  signature: number
  position: number
  input: AbiParam
}

/** The arguments of the documents of a batch, in their order, of those roles that are looked at; `counts` are of all. */
export const elementsOf = (
  at: At,
  batch: Batch,
  stores: Stores,
  looksAt?: (role: Role, kind: Kind) => boolean,
): { at: At; batch: Batch; counts: Float64Array } => {
  const { reader } = stores
  const signatures = signaturesOf(at, batch, reader)
  const roles: Role[] = []
  /** Places in `roles` of the arguments of a signature that are looked at. */
  const seen: (number[] | undefined)[] = []
  const lengths: number[] = []
  const counts = new Float64Array(batch.buckets)
  let total = 0
  const hasArguments = at.kind === 'call' ? decoded(at, batch, stores) : undefined
  for (let i = 0; i < batch.count; i++) {
    const id = signatures[i]!
    let wanted = seen[id]
    if (wanted === undefined) {
      const { event, error } = reader.signature(id)
      const inputs = error === null ? (event?.inputs ?? []) : []
      wanted = []
      for (const [position, input] of inputs.entries()) {
        const role = { signature: id, position, input }
        if (looksAt?.(role, at.kind) === false) continue
        wanted.push(roles.length)
        roles.push(role)
      }
      lengths[id] = inputs.length
      seen[id] = wanted
    }
    if (hasArguments && !hasArguments[i]) continue
    total += wanted.length
    counts[batch.owners ? batch.owners[i]! : 0]! += lengths[id]!
  }
  const documents = new Uint32Array(total)
  const role = new Uint32Array(total)
  const owners = batch.owners && new Uint32Array(total)
  let size = 0
  let before = -1
  let wanted: readonly number[] = []
  for (let i = 0; i < batch.count; i++) {
    if (hasArguments && !hasArguments[i]) continue
    const id = signatures[i]!
    if (id !== before) {
      before = id
      wanted = seen[id]!
    }
    if (wanted.length === 0) continue
    const ordinal = ordinalAt(batch, i)
    for (let j = 0; j < wanted.length; j++) {
      documents[size] = ordinal
      role[size] = wanted[j]!
      if (owners) owners[size] = batch.owners![i]!
      size++
    }
  }
  return {
    at: { ...at, elements: { documents, role, roles } },
    batch: { count: total, list: undefined, from: 0, owners, buckets: batch.buckets },
    counts,
  }
}

const signaturesOf = (at: At, batch: Batch, reader: Reader): Float64Array => {
  const [kind, field] = at.kind === 'call' ? (['call', 'selector'] as const) : (['log', 'signature'] as const)
  const source = columnSource(kind, lookup(kind, field)!, reader)!
  const data = source.data(at)
  if (!data) return new Float64Array(0)
  return gathered(foundIn(data, source.bounds(at)!.greatest), batch)
}

/** Whether the data of calls could be decoded, which their signature does not tell. */
const decoded = (at: At, batch: Batch, { reader, exact }: Stores): boolean[] =>
  Array.from({ length: batch.count }, (_, i) => {
    reader.check()
    const [document] = exact.load('call', [positionOfOrdinal(at.header, 'call', ordinalAt(batch, i))], ['args'])
    return Array.isArray(document?._source.args)
  })

import { type At, type Batch, ordinalAt } from './batch.ts'

/** The documents of elements, each once in each bucket. */
export const documentsOf = (at: At, batch: Batch): { at: At; batch: Batch } => {
  // Of a kind without such a list there are no elements.
  if (!at.elements) return { at, batch }
  const { documents } = at.elements
  const { count, owners, buckets } = batch
  const list = new Uint32Array(count)
  const kept = owners && new Uint32Array(count)
  const seen = new Set<number>()
  let size = 0
  for (let i = 0; i < count; i++) {
    const document = documents[ordinalAt(batch, i)]!
    const owner = owners ? owners[i]! : 0
    const key = owner * at.size + document
    if (seen.has(key)) continue
    seen.add(key)
    list[size] = document
    if (kept) kept[size] = owner
    size++
  }
  return {
    at: { ...at, elements: undefined },
    batch: { count: size, list: list.subarray(0, size), from: 0, owners: kept?.subarray(0, size), buckets },
  }
}

import { createHash } from 'node:crypto'

/** Blocks of an era1 file at most, from which the depth of the tree follows. */
export const MOST_BLOCKS = 8192

export interface HeaderRecord {
  hash: Uint8Array
  /** 32 bytes, the least significant first. */
  totalDifficulty: Uint8Array
}

/** SSZ's `hash_tree_root` of `List[HeaderRecord, 8192]`: of a file's blocks, and the first four bytes of it are in its name. */
export const accumulatorOf = (records: readonly HeaderRecord[]): Buffer => {
  let row = records.map(({ hash, totalDifficulty }) => sha256(hash, totalDifficulty))
  let zero: Buffer = Buffer.alloc(32)
  for (let width = MOST_BLOCKS; width > 1; width /= 2) {
    const above: Buffer[] = []
    for (let i = 0; i < row.length; i += 2) above.push(sha256(row[i]!, row[i + 1] ?? zero))
    row = above
    zero = sha256(zero, zero)
  }
  const count = Buffer.alloc(32)
  count.writeUInt32LE(records.length)
  return sha256(row[0] ?? zero, count)
}

const sha256 = (a: Uint8Array, b: Uint8Array): Buffer => createHash('sha256').update(a).update(b).digest()

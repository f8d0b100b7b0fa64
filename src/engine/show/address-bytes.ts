import { requirePresent } from '../../sqlite/damage.ts'
import type { StoreReader } from '../reader.ts'

/**
 * Reads addresses by their dictionary ids. A block brings new addresses with neighbouring ids, so
 * the second one that is wanted of a run reads all of it, in the time of some ten.
 */
export const createAddressBytes = ({ prepare }: Pick<StoreReader, 'prepare'>): ((id: number) => Uint8Array) => {
  const selectOne = prepare('SELECT bytes FROM address WHERE id = ?').pluck()
  const selectRun = prepare(
    `SELECT group_concat(hex(bytes), '') FROM (SELECT bytes FROM address WHERE id BETWEEN ? AND ? + ${ADDRESSES_OF_RUN - 1} ORDER BY id)`,
  ).pluck()
  /** For each slot, the run that was wanted last, and its addresses if it was read. */
  const runs = new Uint32Array(SLOTS)
  const read: (Buffer | undefined)[] = new Array(SLOTS).fill(undefined)
  return id => {
    const run = Math.floor(id / ADDRESSES_OF_RUN)
    const slot = run % SLOTS
    if (runs[slot] !== run) {
      runs[slot] = run
      read[slot] = undefined
    } else
      read[slot] ??= Buffer.from(
        (selectRun.get(run * ADDRESSES_OF_RUN, run * ADDRESSES_OF_RUN) as string | null) ?? '',
        'hex',
      )
    const bytes = read[slot]
    const at = (id - run * ADDRESSES_OF_RUN) * STORED_ADDRESS_BYTES
    // The newest run is not full.
    if (bytes?.length === ADDRESSES_OF_RUN * STORED_ADDRESS_BYTES) return bytes.subarray(at, at + STORED_ADDRESS_BYTES)
    return requirePresent(selectOne.get(id) as Buffer | undefined, 'the number of an address')
  }
}

const ADDRESSES_OF_RUN = 64
/** More than most exports meet at once, of up to 1.3 kB each. */
const SLOTS = 4096
const STORED_ADDRESS_BYTES = 20

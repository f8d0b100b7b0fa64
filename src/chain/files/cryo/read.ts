import { ChainsieveError, refuse } from '../../../lib/errors.ts'
import { DEFAULT_LIMITS, overLimit } from '../../../limits/index.ts'
import { checkBlock } from '../../check/check-block.ts'
import type { RawBlock } from '../../wire.ts'
import type { PackLine, PackOptions } from '../pack.ts'
import { assembleBlock, WANTED } from './block.ts'
import type { CryoFolder } from './folder.ts'
import { createCursor } from './rows.ts'
import { hexOf } from './values.ts'

/** The blocks of a folder of cryo, each as the JSON of a pack's line. */
export async function* readCryo({ files, size }: CryoFolder, options: PackOptions = {}): AsyncGenerator<PackLine> {
  const { signal, onRead, stored, limits = DEFAULT_LIMITS, allocate = bytes => new Uint8Array(bytes) } = options
  const cursors = {
    blocks: createCursor(files.blocks, WANTED.blocks),
    transactions: createCursor(files.transactions, WANTED.transactions),
    logs: createCursor(files.logs, WANTED.logs),
  }
  const all = files.blocks.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  let done = 0
  try {
    for (const { path, from, to } of files.blocks)
      for (let number = from; number <= to; number++) {
        signal?.throwIfAborted()
        onRead?.(Math.floor((size * ++done) / all))
        const { rows } = await cursors.blocks.take(number)
        const where = `${path}, block ${number}`
        const [row] = rows
        if (!row || rows.length > 1)
          throw refuse('cryo_incomplete', `${where}: it has ${rows.length} rows of this block. ${REMEDY}`)
        const hash = stored?.(number)?.hash
        if (hash !== undefined && hash === hexOf(row('block_hash'), 'block_hash')) continue
        const transactions = await cursors.transactions.take(number)
        const logs = await cursors.logs.take(number)
        const raw = assemble(where, () => assembleBlock(row, transactions.rows, logs.rows))
        const text = Buffer.from(JSON.stringify(raw))
        if (text.length > limits.packLine) throw overLimit('packLine', limits, where)
        const bytes = allocate(text.length)
        bytes.set(text)
        yield { path, line: number, bytes, last: false, form: 'cryo' }
      }
  } finally {
    for (const cursor of Object.values(cursors)) await cursor.close()
  }
}

/** Checks one block as a node's answer is checked. */
export const parseCryoBlock = ({ path, line, bytes }: PackLine, options: PackOptions = {}): RawBlock => {
  const where = `${path}, block ${line}`
  const raw = JSON.parse(Buffer.from(bytes).toString()) as RawBlock
  const { chainId } = options
  if (chainId !== undefined && raw.chainId !== undefined && raw.chainId !== chainId)
    throw refuse(
      'pack_other_chain',
      `${where}: this is a block of chain ${raw.chainId}, but the network holds chain ${chainId}. Import it into a network of its own`,
    )
  assemble(where, () => checkBlock(raw, options))
  return raw
}

const REMEDY = 'Delete the files of this range, and let cryo write them again'

const assemble = <T>(where: string, make: () => T): T => {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof ChainsieveError)) throw error
    throw refuse('pack_inconsistent_block', `${where}: ${error.message}. ${REMEDY}`, error)
  }
}

import { refuse } from '../lib/errors.ts'
import { type PackOptions, readPack } from './pack.ts'
import type { ChainSource } from './source.ts'
import type { RawBlock } from './wire.ts'

/**
 * Block packs as a source. Files are read from front to back each time something is asked, and their order is the order of the
 * blocks, whatever order a range wants: gzip cannot be read backwards. Holes are no error. There is no head to follow:
 * `follow` gives what is above the tip, and ends with the last file.
 */
export const createPackSource = (paths: readonly string[], options: Omit<PackOptions, 'signal'> = {}): ChainSource => {
  async function* read(signal: AbortSignal): AsyncGenerator<RawBlock> {
    for (const path of paths) for await (const { block } of readPack(path, { ...options, signal })) yield block
  }
  return {
    async chainId(signal) {
      if (options.chainId !== undefined) return options.chainId
      for await (const { chainId } of read(signal)) if (chainId !== undefined) return chainId
      throw refuse(
        'pack_without_chain_id',
        `${paths.join(', ')}: no line has the chain id: add "chainId" to the first one`,
      )
    },
    async head(signal) {
      let head = -1
      for await (const { block } of read(signal)) head = Math.max(head, Number(block.number))
      return head
    },
    async *range({ from, to, run, signal }) {
      let blocks: RawBlock[] = []
      let next = -1
      for await (const block of read(signal)) {
        const number = Number(block.block.number)
        if (number < from || number > to) continue
        if (blocks.length > 0 && number !== next) {
          yield blocks
          blocks = []
        }
        blocks.push(block)
        next = number + 1
        if (next % run === 0) {
          yield blocks
          blocks = []
        }
      }
      if (blocks.length > 0) yield blocks
    },
    async *follow({ from, tip, signal }) {
      const first = tip === undefined ? from : tip.number + 1
      for await (const block of read(signal)) if (Number(block.block.number) >= first) yield { type: 'block', block }
    },
    endpoints: () => [],
  }
}

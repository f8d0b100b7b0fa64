import type { PackLine } from '../../chain/pack.ts'
import type { Limits } from '../../limits/index.ts'
import type { DictionariesMemory } from '../shared/dictionaries.ts'
import type { BuiltPiece } from './facts.ts'

/** What a thread that builds pieces is started with. */
export interface BuilderData {
  network: string
  /** File of the network's store. */
  store: string
  /** Folder of the ABIs that the user gave. */
  abis: string
  chainId: number | undefined
  limits: Limits
  memory: DictionariesMemory
}

/** Lines of a pack, in memory that all threads share. */
export interface ToBuilder {
  lines: readonly PackLine[]
}

/** Undefined where nothing could be made of them: then they are to be taken one by one. */
export type FromBuilder = Built | undefined

/** In the order of the lines; each block is of one line. */
export interface Built {
  pieces: BuiltPiece[]
  /** The ABIs that they were decoded by; see `versionOf`. */
  abis: string
}

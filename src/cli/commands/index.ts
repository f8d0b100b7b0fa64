import { addAbis, listAbis } from './abi.ts'
import { importPacks } from './import.ts'
import { indexBlocks } from './index-blocks.ts'
import { search } from './search.ts'
import { serve } from './serve.ts'
import { status } from './status.ts'
import { createToken, listTokens, revokeToken } from './token.ts'

/** Every command, in the order of the help text. */
export const COMMANDS = [
  serve,
  indexBlocks,
  importPacks,
  search,
  status,
  createToken,
  listTokens,
  revokeToken,
  addAbis,
  listAbis,
] as const

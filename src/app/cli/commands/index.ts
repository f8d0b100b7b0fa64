import { command, misused } from '../command.ts'
import { addAbis, listAbis, removeAbis } from './abi.ts'
import { audit, createToken, limitToken, listTokens, revokeToken, rotateToken } from './accounts.ts'
import { exportHits, importPacks, indexBlocks, search } from './blocks.ts'
import { backup, compact, move, prune, restore, salvage, stats, verify } from './maintenance.ts'
import { applyRules, checkRules, createRules, simulateRule } from './rule-files.ts'
import {
  deleteRules,
  listDeliveries,
  listRules,
  pauseRules,
  redeliver,
  resumeRules,
  showRule,
  signingSecret,
  testRule,
} from './rules.ts'
import { dev, doctor, health, receive, replay, serve, status } from './serve.ts'

const completion = command({
  name: 'completion',
  usage: 'bash|zsh|fish',
  summary: 'Prints the script that completes commands and options in a shell.',
  settings: [],
  options: {},
  arity: [1, 1],
  run: async ({ args: [shell = ''], streams }) => {
    // Imported late, since the scripts are generated from the list of commands, which contains this one.
    const { completions, SHELLS } = await import('../completion.ts')
    const script = SHELLS.get(shell)
    if (!script)
      throw misused(`There is no completion for ${JSON.stringify(shell)}: name ${[...SHELLS.keys()].join(', ')}.`)
    streams.stdout.write(script(completions()))
  },
})

/** Every command, in the order of the help text. */
export const COMMANDS = [
  serve,
  dev,
  replay,
  indexBlocks,
  importPacks,
  search,
  exportHits,
  status,
  health,
  doctor,
  verify,
  backup,
  restore,
  prune,
  move,
  compact,
  stats,
  salvage,
  applyRules,
  createRules,
  listRules,
  showRule,
  pauseRules,
  resumeRules,
  deleteRules,
  testRule,
  receive,
  checkRules,
  simulateRule,
  listDeliveries,
  redeliver,
  signingSecret,
  createToken,
  listTokens,
  rotateToken,
  limitToken,
  revokeToken,
  audit,
  addAbis,
  listAbis,
  removeAbis,
  completion,
] as const

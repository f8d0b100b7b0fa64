import { addAbis, listAbis, removeAbis } from './abi.ts'
import { audit, createToken, limitToken, listTokens, revokeToken, rotateToken } from './accounts.ts'
import { exportHits, importPacks, indexBlocks, search } from './blocks.ts'
import { completion } from './completion.ts'
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

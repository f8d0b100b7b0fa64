import { addAbis, listAbis, removeAbis } from './abi.ts'
import { audit } from './audit.ts'
import { backup } from './backup.ts'
import { compact } from './compact.ts'
import { completion } from './completion.ts'
import { dev } from './dev.ts'
import { doctor } from './doctor.ts'
import { exportHits } from './export.ts'
import { health } from './health.ts'
import { importPacks } from './import.ts'
import { indexBlocks } from './index-blocks.ts'
import { move } from './move.ts'
import { prune } from './prune.ts'
import { receive } from './receive.ts'
import { replay } from './replay.ts'
import { restore } from './restore.ts'
import { applyRules, createRules } from './rules/apply.ts'
import { checkRules } from './rules/check.ts'
import { listDeliveries } from './rules/deliveries.ts'
import { listRules } from './rules/list.ts'
import { redeliver } from './rules/redeliver.ts'
import { signingSecret } from './rules/secret.ts'
import { simulateRule } from './rules/simulate.ts'
import { deleteRules, pauseRules, resumeRules, showRule, testRule } from './rules/state.ts'
import { salvage } from './salvage.ts'
import { search } from './search.ts'
import { serve } from './serve.ts'
import { stats } from './stats.ts'
import { status } from './status.ts'
import { createToken, limitToken, listTokens, revokeToken, rotateToken } from './token.ts'
import { verify } from './verify.ts'

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

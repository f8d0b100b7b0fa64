import { command, misused } from '../command.ts'
import { abiAddCommand, abiListCommand, abiRemoveCommand } from './abi.ts'
import {
  auditCommand,
  tokenCreateCommand,
  tokenLimitCommand,
  tokenListCommand,
  tokenRevokeCommand,
  tokenRotateCommand,
} from './accounts.ts'
import { exportCommand, importCommand, indexCommand, searchCommand } from './blocks.ts'
import {
  listsAddCommand,
  listsDeleteCommand,
  listsHasCommand,
  listsListCommand,
  listsPutCommand,
  listsRemoveCommand,
} from './lists.ts'
import {
  backupCommand,
  compactCommand,
  moveCommand,
  pruneCommand,
  restoreCommand,
  salvageCommand,
  statsCommand,
  verifyCommand,
} from './maintenance.ts'
import { rulesApplyCommand, rulesCheckCommand, rulesCreateCommand, rulesSimulateCommand } from './rule-files.ts'
import { rulesImportCommand } from './rule-import.ts'
import { rulesVerifyCommand } from './rule-tests.ts'
import {
  rulesDeleteCommand,
  rulesDeliveriesCommand,
  rulesListCommand,
  rulesPauseCommand,
  rulesRedeliverCommand,
  rulesResumeCommand,
  rulesSecretCommand,
  rulesShowCommand,
  rulesTestCommand,
} from './rules.ts'
import {
  devCommand,
  doctorCommand,
  healthCommand,
  mcpCommand,
  receiveCommand,
  replayCommand,
  serveCommand,
  statusCommand,
} from './serve.ts'
import { silencesAddCommand, silencesListCommand, silencesRemoveCommand } from './silences.ts'

const completionCommand = command({
  name: 'completion',
  usage: 'bash|zsh|fish',
  summary: 'Prints the script that completes commands and options in a shell.',
  settings: [],
  options: {},
  arity: [1, 1],
  run: async ({ args: [shell = ''], streams }) => {
    // Imported lazily to break a cycle: completion is generated from this list of commands.
    const { completions, SHELLS } = await import('../completion.ts')
    const script = SHELLS.get(shell)
    if (!script)
      throw misused(`There is no completion for ${JSON.stringify(shell)}: name ${[...SHELLS.keys()].join(', ')}.`)
    streams.stdout.write(script(completions()))
  },
})

/** Every subcommand, in the order of the help text. */
export const COMMANDS = [
  serveCommand,
  devCommand,
  replayCommand,
  indexCommand,
  importCommand,
  searchCommand,
  exportCommand,
  statusCommand,
  mcpCommand,
  healthCommand,
  doctorCommand,
  verifyCommand,
  backupCommand,
  restoreCommand,
  pruneCommand,
  moveCommand,
  compactCommand,
  statsCommand,
  salvageCommand,
  rulesApplyCommand,
  rulesCreateCommand,
  rulesListCommand,
  rulesShowCommand,
  rulesPauseCommand,
  rulesResumeCommand,
  rulesDeleteCommand,
  rulesTestCommand,
  receiveCommand,
  rulesCheckCommand,
  rulesSimulateCommand,
  rulesDeliveriesCommand,
  rulesRedeliverCommand,
  rulesSecretCommand,
  rulesImportCommand,
  rulesVerifyCommand,
  listsListCommand,
  listsPutCommand,
  listsAddCommand,
  listsRemoveCommand,
  listsHasCommand,
  listsDeleteCommand,
  silencesListCommand,
  silencesAddCommand,
  silencesRemoveCommand,
  tokenCreateCommand,
  tokenListCommand,
  tokenRotateCommand,
  tokenLimitCommand,
  tokenRevokeCommand,
  auditCommand,
  abiAddCommand,
  abiListCommand,
  abiRemoveCommand,
  completionCommand,
] as const

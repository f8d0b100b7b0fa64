import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { thisUser } from '../../accounts/audit.ts'
import { ACCOUNTS_FILE } from '../../accounts/file.ts'
import { type Config, type ConfigSources, loadConfig, readFlags } from '../../config/index.ts'
import { ChainsieveError, stop, systemFault } from '../../lib/errors.ts'
import { createLog, describeError, type Log } from '../../lib/log.ts'
import { createScreen, progressBar, progressLines, type Screen } from '../../lib/progress.ts'
import { redact } from '../../lib/secret.ts'
import { createShutdown, type ShutdownOptions } from '../../lib/shutdown.ts'
import type { Services } from '../index.ts'
import { commandNamed, type Typed, understand } from './arguments.ts'
import { type CommandContext, MISUSE_CODE, runCommand, type Streams } from './command.ts'
import { overview, usageOf, widthOf } from './usage.ts'

export interface Surroundings extends Pick<ConfigSources, 'env' | 'cwd'>, Omit<ShutdownOptions, 'log'> {
  version: string
  services: Services
  /** Default: the streams of the process. */
  streams?: Streams
}

/** Runs a command line. Exit codes: 0 done, 1 failed, 2 misused. Never rejects. */
export const runCommandLine = async (
  argv: readonly string[],
  { version, services, streams = process, env, cwd = process.cwd(), ...rest }: Surroundings,
) => {
  const { stdout, stderr } = streams
  // The reader of the output may stop reading early.
  stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  })
  const screen = createScreen(stderr)
  const print = (line: string) => void stdout.write(`${line}\n`)

  let typed: Typed
  let config: Config
  let options: CommandContext['options']
  try {
    typed = understand(argv)
    if (typed.wants === 'version') {
      print(version)
      return 0
    }
    if (typed.wants === 'help') {
      const width = widthOf(stdout)
      print(typed.command ? usageOf(typed.command, width) : overview(version, width))
      return 0
    }
    options = readFlags(typed.command.options, typed.options)
    const { defaults = {} } = typed.command
    config = loadConfig({ flags: typed.settings, defaults, ...(env ? { env } : {}), cwd })
  } catch (error) {
    return printFailure(screen, error, 2, commandNamed(argv))
  }

  const { command, args } = typed
  const log = createLog({ write: screen.line, json: config.json })
  const shutdown = createShutdown({ log, ...rest })
  const progress = (label: string) =>
    stderr.isTTY && !config.json ? progressBar(screen, { label }) : progressLines(log, { label })
  try {
    const context = { config, options, args, services, streams, cwd, log, shutdown, print, progress }
    const code = await runCommand(command, context)
    if (command.audited) noteAct(services, config.data, typed, log)
    return code
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return 0
    if (shutdown.signal.aborted && (error as Error).name === 'AbortError')
      return printFailure(screen, stop('stopped', 'Stopped before the end.'), 1)
    if (config.json && !(error instanceof ChainsieveError && error.code === MISUSE_CODE)) {
      log.error('Failed', { command: command.name, error })
      return 1
    }
    return printFailure(screen, error, 1, `chainsieve ${command.name}`)
  } finally {
    await shutdown.close()
  }
}

const printFailure = (screen: Screen, error: unknown, code: number, command = 'chainsieve'): number => {
  const known = systemFault(error)
  if (!known) {
    const text = error instanceof Error ? (error.stack ?? String(error)) : String(error)
    screen.line(redact(`chainsieve: This is a fault in Chainsieve. Please report it:\n${text}`))
    return 1
  }
  screen.line(redact(`chainsieve: ${describeError(known)}`))
  if (known.code !== MISUSE_CODE) return code
  screen.line(`${command} --help shows how to use it.`)
  return 2
}

/** Writes the command to the audit trail. A folder without accounts has no trail. */
export const noteAct = (
  services: Services,
  data: string,
  { command, args, settings, options }: Extract<Typed, { wants: 'run' }>,
  log: Log,
): void => {
  if (!existsSync(join(data, ACCOUNTS_FILE))) return
  const network = settings.network === undefined ? {} : { network: settings.network }
  const detail = { ...network, ...options }
  try {
    const accounts = services.openAccounts(data)
    try {
      accounts.trail.record(thisUser(), {
        action: command.name,
        ...(args.length > 0 && { target: redact(args.join(' ')).slice(0, MAX_AUDIT_TARGET) }),
        ...(Object.keys(detail).length > 0 && { detail }),
      })
    } finally {
      accounts.close()
    }
  } catch (error) {
    log.warn('Failed to write to the audit trail', { command: command.name, error })
  }
}

const MAX_AUDIT_TARGET = 1_000

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/** The program under measurement, run as its users run it: in processes of its own. */
export interface Running {
  pid: number
  /** What it wrote to standard output; rejects with the end of what it wrote to standard error where it did not end well. */
  ended: Promise<string>
  /** Memory and processor time so far; undefined where the system does not tell, or once the process has ended. */
  usage(): Usage | undefined
  stop(): Promise<void>
}

export interface Usage {
  /** Most bytes that were resident at once, with the pages of files that are mapped into memory. */
  peak: number
  /** Bytes that are resident now and are no file's: what the machine could not use for anything else. */
  own: number
  cpuSeconds: number
}

export interface Memory {
  peak: number
  peakOwn: number
}

/**
 * `path` is a script for this Node (`.mjs`, `.ts`) or an executable; `by` is a command that runs it, if any. `onLine` takes lines of
 * standard error, `onText` all of standard output so far.
 */
export const startProgram = (
  path: string,
  args: readonly string[],
  onLine?: (line: string) => void,
  by: readonly string[] = [],
  onText?: (stdout: string) => void,
): Running => {
  const isScript = /\.[mc]?[jt]s$/.test(path)
  const [command, ...all] = [...by, ...(isScript ? [process.execPath] : []), path, ...args] as [string, ...string[]]
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CHAINSIEVE_')))
  const child = spawn(command, all, { stdio: ['ignore', 'pipe', 'pipe'], env })
  children.add(child)
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text
    onText?.(stdout)
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', line => {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    onLine?.(line)
  })
  let stopping = false
  const ended = new Promise<string>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      children.delete(child)
      if (code === 0 || stopping) resolve(stdout)
      else reject(new Error(`${[path, ...args].join(' ')}: ended with ${code ?? signal}\n${lines.join('\n')}`))
    })
  })
  ended.catch(() => {})
  return {
    pid: child.pid ?? -1,
    ended,
    usage: () => usageOf(child.pid),
    async stop() {
      stopping = true
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Starts a server and resolves when it says where it is. */
export const startServer = async (
  path: string,
  args: readonly string[],
  by: readonly string[] = [],
): Promise<Running & { url: string }> => {
  let found: (url: string) => void
  const url = new Promise<string>(resolve => {
    found = resolve
  })
  const onLine = (line: string) => {
    const url = /"message":"Serves".*?"url":"([^"]+)"/.exec(line)?.[1]
    if (url !== undefined) found(url)
  }
  const running = startProgram(path, ['serve', '--json', ...args], onLine, by)
  const early = running.ended.then(() => {
    throw new Error('the server ended before it served')
  })
  return { ...running, url: await Promise.race([url, early]) }
}

export const createToken = async (
  path: string,
  data: string,
  account = 'bench',
  scopes: readonly string[] = [],
): Promise<string> => {
  const args = ['token', 'create', '--account', account, ...scopes.flatMap(scope => ['--scope', scope])]
  return (await startProgram(path, [...args, '--data', data]).ended).trim()
}

/** A port that was free a moment ago. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

/** Looks at a process now and then, as some of what it uses can only be seen while it runs. */
export const watchUsage = (running: Pick<Running, 'usage'>, everyMs = 20) => {
  let last: Usage | undefined
  let peakOwn = 0
  const look = () => {
    const usage = running.usage()
    if (usage === undefined) return
    last = usage
    peakOwn = Math.max(peakOwn, usage.own)
  }
  look()
  // Whoever fails does not stop it; that must not keep this process alive.
  const timer = setInterval(look, everyMs).unref()
  return {
    stop(): (Memory & { cpuSeconds: number }) | undefined {
      look()
      clearInterval(timer)
      return last && { peak: last.peak, peakOwn, cpuSeconds: last.cpuSeconds }
    },
  }
}

const KEPT_LINES = 20
const children = new Set<ChildProcess>()
// Whatever ends the benchmark ends what it measures.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Processor time that the whole machine has spent on anything since it started; undefined where the system does not tell. */
export const busySeconds = (): number | undefined => {
  try {
    const [, ...ticks] = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]!.split(/ +/)
    // user, nice, system, idle, iowait, irq, softirq, steal: what waits is not busy, what other guests of the host take is.
    return [0, 1, 2, 5, 6, 7].reduce((sum, i) => sum + Number(ticks[i]), 0) / 100
  } catch {
    return undefined
  }
}

/** From Linux's /proc; other systems have nothing that is as cheap to read. */
const usageOf = (pid: number | undefined): Usage | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) * 1024
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // Behind the name, which may hold anything: the 12th and 13th fields are user and system time in ticks of 10 ms.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { peak: bytes('VmHWM'), own: bytes('RssAnon'), cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100 }
  } catch {
    return undefined
  }
}

/** Lends a folder that is gone afterwards, even where the process is ended. */
export const withFolder = async <T>(run: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-script-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    return await run(folder)
  } finally {
    remove()
    process.off('exit', remove)
  }
}

/** Waits until `test` says true; it may say what there is instead. */
export const until = async (
  test: () => boolean | string | Promise<boolean | string>,
  ms: number,
  what: string,
  everyMs = 200,
): Promise<void> => {
  const end = performance.now() + ms
  for (let found = await test(); found !== true; found = await test()) {
    if (performance.now() > end)
      throw new Error(`${what}: not there after ${ms / 1_000} s${typeof found === 'string' ? `: ${found}` : ''}`)
    await sleep(everyMs)
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openAccounts, type TokenScope } from '../../src/accounts/index.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import type { ServerStatus } from '../../src/ingest/status/status.ts'

/** The real program, started from source as a process of its own. */
export interface Program {
  pid: number
  /** What it wrote so far. */
  out(): string
  err(): string
  /** Resolves when a line of its log matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  signal(name: NodeJS.Signals): void
  /** Resolves when it has ended and all that it wrote is here. */
  ended: Promise<Ended>
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  out: string
  err: string
}

export interface Options {
  data?: string
  stdin?: string
  cwd?: string
  env?: NodeJS.ProcessEnv
  /** What the program is started by, e.g. `['setpriv', '--reuid', '1000']`. */
  by?: readonly string[]
  /** From source, also where what was built is tested. */
  fromSource?: boolean
  /** Of the token that a server is asked with. */
  scopes?: readonly TokenScope[] | undefined
}

export interface Test {
  after(fn: () => unknown): void
}

const cleanups = new WeakMap<Test, (() => unknown)[]>()

/** Has `fn` called after the test, before what was set up earlier: a program ends before its folder goes. */
export const after = (t: Test, fn: () => unknown) => {
  let list = cleanups.get(t)
  if (!list) {
    const own: (() => unknown)[] = []
    list = own
    cleanups.set(t, own)
    t.after(async () => {
      for (const next of own.reverse()) await next()
    })
  }
  list.push(fn)
}

/** Programs that run, for the case that the tests themselves are ended. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** What Node has made of the sources, kept from one start to the next: without it most of the tests' time goes there. */
const COMPILED = join(tmpdir(), `chainsieve-test-compiled-${process.getuid?.() ?? 0}`)

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** What the program is started by: a script, which Node runs, or an executable. */
const startedBy = (path: string): string[] => (/\.m?[jt]s$/.test(path) ? [process.execPath, path] : [path])

/** The program: from source, or what was built and the variable names. */
export const PROGRAM = startedBy(process.env.TESTED_PROGRAM ?? MAIN)

/** What is asked for comes soon, but the machine may be busy. */
const PATIENCE_MS = 120_000

/** Starts the program; it is killed after the test where it still runs. */
export const start = (t: Test, args: readonly string[], options: Options = {}): Program => {
  const { data, stdin, cwd, env, by = [], fromSource = false } = options
  const all = [
    ...by,
    ...(fromSource ? startedBy(MAIN) : PROGRAM),
    ...args,
    ...(data === undefined ? [] : ['--data', data]),
  ]
  const child: ChildProcess = spawn(all[0]!, all.slice(1), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_COMPILE_CACHE: COMPILED, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  child.stdin!.on('error', () => {})
  child.stdin!.end(stdin)
  let [out, err] = ['', '']
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }
  child.stdout!.setEncoding('utf8').on('data', text => {
    out += text
    changed()
  })
  child.stderr!.setEncoding('utf8').on('data', text => {
    err += text
    changed()
  })
  let over = false
  running.add(child)
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      over = true
      running.delete(child)
      changed()
      resolve({ code, signal, out, err })
    })
  })
  after(t, async () => {
    child.kill('SIGKILL')
    await ended.catch(() => {})
  })
  return {
    pid: child.pid!,
    out: () => out,
    err: () => err,
    says: pattern =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(err)
          if (found) settle(() => resolve(found))
          else if (over) settle(() => reject(new Error(`it ended and did not say ${pattern}:\n${err}`)))
        }
        const settle = (then: () => void) => {
          clearTimeout(timer)
          listeners.delete(look)
          then()
        }
        const timer = setTimeout(
          () => settle(() => reject(new Error(`it does not say ${pattern}:\n${err}`))),
          PATIENCE_MS,
        )
        listeners.add(look)
        look()
      }),
    signal: name => void child.kill(name),
    ended,
  }
}

/** Runs a command to its end. */
export const chainsieve = (t: Test, args: readonly string[], options: Options = {}): Promise<Ended> =>
  start(t, args, options).ended

/** Runs a command that has to succeed, and returns what it printed. */
export const succeed = async (t: Test, args: readonly string[], options: Options = {}): Promise<string> => {
  const { code, out, err } = await chainsieve(t, args, options)
  if (code !== 0) throw new Error(`chainsieve ${args.join(' ')} ended with ${code}:\n${err}`)
  return out
}

export interface Server extends Program {
  url: string
  token: string
  /** A request with the token, by default GET, or POST where there is a body. What is no text is sent as JSON. */
  send(path: string, body?: unknown, init?: RequestInit): Promise<Response>
  /** The same, with JSON as the answer; undefined where that is empty. */
  ask<T = unknown>(path: string, body?: unknown, method?: string): Promise<{ status: number; body: T }>
  search(network: string, entities: string, body?: unknown): Promise<SearchAnswer>
  total(network: string, entities: string, query?: unknown): Promise<number>
  status(): Promise<ServerStatus>
}

export interface SearchAnswer {
  hits: { total: number; hits: { _id: string; _source: Record<string, unknown> }[] }
}

/** Starts a server on a free port and waits until it serves. */
export const serve = async (t: Test, data: string, args: readonly string[] = [], options: Options = {}) => {
  const token = tokenOf(data, options.scopes)
  return connect(start(t, ['serve', '--port', '0', ...args], { data, ...options }), token)
}

/** Waits until a program serves, and asks it with a token. */
export const connect = async (program: Program, token: string): Promise<Server> => {
  const [, url = ''] = await program.says(/Serves +url=(\S+)/)
  const send = (path: string, body?: unknown, { headers, ...init }: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const ask = async <T>(path: string, body?: unknown, method?: string) => {
    const response = await send(path, body, method === undefined ? {} : { method })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T }
  }
  const search = async (network: string, entities: string, body: unknown = {}): Promise<SearchAnswer> => {
    const { status, body: answer } = await ask<SearchAnswer>(`/${network}/es/${entities}/search/`, body)
    if (status === 200) return answer
    const text = JSON.stringify(answer)
    // All hits of a chain that is reorganised meanwhile end with this error: clients ask again.
    if (status === 503 && /the chain was reorganised from block \d+ on/.test(text))
      return search(network, entities, body)
    throw new Error(`${status}: ${text}`)
  }
  return {
    ...program,
    url,
    token,
    send,
    ask,
    search,
    total: async (network, entities, query) =>
      (await search(network, entities, { size: 0, ...(query === undefined ? {} : { query }) })).hits.total,
    status: async () => (await ask<ServerStatus>('/status')).body,
  }
}

/** Makes a token without starting the program. */
export const tokenOf = (data: string, scopes?: readonly TokenScope[]): string => {
  const accounts = openAccounts(data)
  try {
    return accounts.createToken('test', { scopes })
  } finally {
    accounts.close()
  }
}

/** Waits until something holds, and returns it. */
export const until = async <T>(
  look: () => T | Promise<T>,
  holds: (value: T) => boolean,
  what: string | (() => string) = '',
): Promise<T> => {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const value = await look()
    if (holds(value)) return value
    if (Date.now() > end)
      throw new Error(
        `still ${JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner))} ${typeof what === 'string' ? what : what()}`,
      )
    await pause(20)
  }
}

/** Waits until something has a value. */
export const untilIs = <T>(look: () => T | Promise<T>, value: T, what?: string | (() => string)): Promise<T> =>
  until(look, found => found === value, what)

export const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** A folder that is removed after the test. */
export const tempFolder = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-e2e-'))
  after(t, () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

export const writePack = (path: string, blocks: Iterable<RawBlock>): string => {
  writeFileSync(path, [...blocks].map(block => `${JSON.stringify(block)}\n`).join(''))
  return path
}

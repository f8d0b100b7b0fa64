import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { after } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { run, type Services, type Surroundings } from '../../src/cli/index.ts'

export const folder = mkdtempSync(join(tmpdir(), 'chainsieve-cli-'))
after(() => rmSync(folder, { recursive: true }))

const unexpected = (name: string) => () => {
  throw new Error(`${name} was not expected to be called`)
}

const services: Services = {
  serve: unexpected('serve'),
  dev: unexpected('dev'),
  replay: unexpected('replay'),
  index: unexpected('index'),
  importPacks: unexpected('importPacks'),
  openSearch: unexpected('openSearch'),
  exportHits: unexpected('exportHits'),
  openRules: unexpected('openRules'),
  receive: unexpected('receive'),
  openAccounts: folder => openAccounts(folder),
  status: unexpected('status'),
  diagnose: unexpected('diagnose'),
  verify: unexpected('verify'),
  prune: unexpected('prune'),
  narrow: unexpected('narrow'),
  forget: unexpected('forget'),
  move: unexpected('move'),
  compact: unexpected('compact'),
  stats: unexpected('stats'),
  salvage: unexpected('salvage'),
  backup: unexpected('backup'),
  restore: unexpected('restore'),
  addAbis: unexpected('addAbis'),
  removeAbis: unexpected('removeAbis'),
  listAbis: unexpected('listAbis'),
}

export const collector = () => {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      chunks.push(Buffer.from(chunk))
      done()
    },
  })
  return Object.assign(stream, { text: () => Buffer.concat(chunks).toString() })
}

/** Runs a command line as a shell would, in a folder of its own, without reaching the real environment. */
export const chainsieve = async (
  argv: string[],
  {
    stdin = '',
    tty = false,
    ...given
  }: Partial<Omit<Surroundings, 'services'>> & Partial<Services> & { stdin?: string; tty?: boolean } = {},
) => {
  const [stdout, stderr] = [collector(), Object.assign(collector(), { isTTY: tty, columns: 200 })]
  const code = await run(argv, {
    version: '1.2.3',
    env: {},
    cwd: folder,
    streams: { stdin: Readable.from([stdin]), stdout, stderr },
    ...given,
    services: { ...services, ...given },
  })
  return { code, out: stdout.text(), err: stderr.text() }
}

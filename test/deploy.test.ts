import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PLATFORMS } from '../scripts/executable/platforms.ts'
import { understand } from '../src/app/cli/arguments.ts'
import { tempFolder } from './e2e/program.ts'

/** The files that operators take over: each is held against what it names, and run as far as the machine can. */
const root = fileURLToPath(new URL('../', import.meta.url))
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

describe('the Containerfile', () => {
  const lines = read('Containerfile').replaceAll('\\\n', ' ').split('\n')
  /** What stands after a word, of all lines that begin with it. */
  const of = (word: string) => lines.flatMap(line => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []))
  const copied = of('COPY')
    .filter(words => !words.startsWith('--from='))
    .flatMap(words => words.split(' ').slice(0, -1))

  test('copies what is there, and what the ignore files let through', () => {
    for (const path of copied) assert.ok(existsSync(join(root, path)), path)
    const [everything, ...let_] = read('.containerignore')
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
    assert.equal(everything, '*')
    assert.deepEqual(let_.map(line => line.slice(1)).sort(), [...copied].sort())
    assert.equal(read('Containerfile.dockerignore'), read('.containerignore'))
  })

  test('copies all that the build needs', t => {
    const folder = tempFolder(t)
    for (const path of copied) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      cpSync(join(root, path), join(folder, path), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const modules = ['./scripts/executable/build.ts', './scripts/executable/platforms.ts']
    const script = modules.map(path => `await import(${JSON.stringify(path)})`).join(';')
    for (const args of [['build.ts'], ['--input-type=module', '-e', script]]) {
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    }
  })

  test('runs as a user who is not root, with one volume that is theirs', () => {
    const [user = ''] = of('USER')
    assert.match(user, /^[1-9]\d*:[1-9]\d*$/)
    const [uid, gid] = user.split(':')
    assert.deepEqual(of('VOLUME'), ['/data'])
    assert.match(of('ENV').join(' '), /CHAINSIEVE_DATA=\/data /)
    assert.ok(of('RUN').includes(`install --directory --owner=${uid} --group=${gid} --mode=0700 /data`))
    // Nothing changes the user again.
    assert.equal(lines.filter(line => line.startsWith('USER')).length, 1)
  })

  test('starts and checks the program without a shell, by commands that there are', () => {
    const entry = JSON.parse(of('ENTRYPOINT')[0]!) as string[]
    assert.deepEqual(entry, ['chainsieve'])
    const check = JSON.parse(/CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0]!)![1]!) as string[]
    for (const words of [[...entry, ...(JSON.parse(of('CMD')[0]!) as string[])], check])
      assert.equal(understand(words.slice(1)).wants, 'run', words.join(' '))
  })

  test('names images by their registry', () => {
    for (const image of of('ARG')) assert.match(image, /^\w+=docker\.io\/library\/[a-z]+:[\w-]+$/)
  })
})

describe('the systemd unit', () => {
  const unit = read('docs/deploy/chainsieve.service')
  const of = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''

  test('starts the program as it is started, with a file that only root reads, as a user who is made', () => {
    const [program, ...words] = of('ExecStart').split(' ')
    assert.equal(program, '/usr/local/bin/chainsieve')
    assert.equal(understand(words).wants, 'run')
    assert.match(of('ExecStart'), /--config %d\/chainsieve\.toml$/)
    assert.match(of('LoadCredential'), /^chainsieve\.toml:/)
    assert.match(read('docs/deploy/chainsieve.sysusers'), new RegExp(`^u ${of('User')} `, 'm'))
  })

  test('is one that systemd accepts, and leaves little open', t => {
    if (spawnSync('systemd-analyze', ['--version']).error) return t.skip('there is no systemd-analyze')
    const file = join(tempFolder(t), 'chainsieve.service')
    // systemd looks for the program and the pages, which are not installed here.
    writeFileSync(file, unit.replace('/usr/local/bin/chainsieve', '/bin/true'))
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
    assert.deepEqual([verified.status, verified.stderr], [0, ''])
    const judged = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=15', file], {
      encoding: 'utf8',
    })
    assert.equal(judged.status, 0, judged.stdout.slice(-300))
  })
})

describe('the compose file', () => {
  const compose = read('docs/deploy/compose.yaml')

  test('builds what is there, and shows every port to this machine alone', () => {
    const [, context = '', dockerfile = ''] = /context: (\S+)\n +dockerfile: (\S+)/.exec(compose)!
    assert.ok(existsSync(join(root, 'docs/deploy', context, dockerfile)))
    const ports = Array.from(compose.matchAll(/- "([^"]*:\d+)"$/gm), ([, port]) => port!)
    assert.equal(ports.length, 3)
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:/)
  })

  test('mounts files that there are', t => {
    if (!existsSync(join(root, 'docs/deploy/prometheus.yml'))) return t.skip('there are no files for Prometheus yet')
    const files = Array.from(compose.matchAll(/- \.\/([\w.-]+):\//g), ([, file]) => file!)
    assert.equal(files.length, 5)
    for (const file of files) assert.ok(existsSync(join(root, 'docs/deploy', file)), file)
  })
})

describe('the workflows', () => {
  const [ci, release] = ['ci', 'release'].map(name => read(`.github/workflows/${name}.yml`)) as [string, string]

  test('run scripts that there are', () => {
    for (const text of [ci, release]) {
      assert.match(text, /bash \.ci\/run$/m)
      for (const [, name] of text.matchAll(/npm run ([\w:]+)/g)) assert.ok(name! in scripts, name)
    }
  })

  test('release every platform, with what can be told of each', () => {
    const rows = Array.from(release.matchAll(/\{ platform: ([\w-]+), runner: [\w.-]+(?:, suffix: (\S+))? \}/g))
    assert.deepEqual(
      Object.fromEntries(rows.map(([, platform, suffix = '']) => [platform, suffix])),
      Object.fromEntries(Object.entries(PLATFORMS).map(([platform, { suffix }]) => [platform, suffix])),
    )
    assert.match(release, /attest-build-provenance/)
  })
})

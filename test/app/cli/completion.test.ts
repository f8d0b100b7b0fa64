import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { COMMANDS } from '../../../src/app/cli/commands/index.ts'
import { completions } from '../../../src/app/cli/completion.ts'
import { grouped, manPage, OTHERS, wrapped } from '../../../src/app/cli/usage.ts'
import { chainsieve, collector, folder } from './support.ts'

/** Whether a program is on this machine. */
const has = (name: string): boolean => spawnSync(name, ['--version']).status === 0
const run = (name: string, args: string[], input = '') => {
  const { status, stdout, stderr } = spawnSync(name, args, { input, cwd: folder, encoding: 'utf8' })
  return { status, out: stdout, err: stderr }
}
const script = async (shell: string): Promise<string> => (await chainsieve(['completion', shell])).out

/** What bash offers where the last word is being typed. */
const bash = (text: string, ...words: string[]): string[] => {
  const line = words.map(word => `'${word}'`).join(' ')
  const asked = `${text}\nCOMP_WORDS=(chainsieve ${line}); COMP_CWORD=${words.length}; _chainsieve; printf '%s\\n' "\${COMPREPLY[@]}"\n`
  const { out, err } = run('bash', ['--norc', '--noprofile'], asked)
  assert.equal(err, '')
  return out.split('\n').filter(Boolean).toSorted()
}

test('bash completes commands, options, choices and files', { skip: !has('bash') }, async () => {
  const text = await script('bash')
  assert.deepEqual(bash(text, 'se'), ['search', 'serve'])
  assert.deepEqual(bash(text, 'token', ''), ['create', 'limit', 'list', 'revoke', 'rotate'])
  assert.deepEqual(bash(text, 'token', 'create', '--e'), ['--expires'])
  assert.deepEqual(bash(text, 'index', '--order', ''), ['newest', 'oldest'])
  assert.deepEqual(bash(text, 'index', '--order', 'o'), ['oldest'])
  assert.deepEqual(bash(text, 'token', 'list', '--ex'), [])
  assert.deepEqual(bash(text, 'serve', '--port', ''), [])
  writeFileSync(join(folder, 'a-pack.ndjson'), '')
  assert.deepEqual(bash(text, 'import', 'a-'), ['a-pack.ndjson'])
  assert.deepEqual(bash(text, 'serve', '--config', 'a-'), ['a-pack.ndjson'])
  assert.deepEqual(bash(text, 'status', 'a-'), [])
  for (const { words, flags } of completions())
    assert.deepEqual(bash(text, ...words, '--'), flags.map(({ flag }) => flag).toSorted(), words.join(' '))
})

test('zsh reads its script', { skip: !has('zsh') }, async () => {
  const path = join(folder, '_chainsieve')
  writeFileSync(path, await script('zsh'))
  assert.deepEqual(run('zsh', ['-f', '-n', path]), { status: 0, out: '', err: '' })
})

test('fish completes commands, options and choices', { skip: !has('fish') }, async () => {
  const path = join(folder, 'chainsieve.fish')
  writeFileSync(path, await script('fish'))
  const fish = (line: string) =>
    run('fish', ['-c', `source ${path}; complete -C ${JSON.stringify(line)}`])
      .out.split('\n')
      .filter(Boolean)
      .map(it => it.split('\t')[0])
      .toSorted()
  assert.deepEqual(fish('chainsieve se'), ['search', 'serve'])
  assert.deepEqual(fish('chainsieve token '), ['create', 'list', 'revoke'])
  assert.deepEqual(fish('chainsieve token create --e'), ['--expires'])
  assert.deepEqual(fish('chainsieve index --order '), ['newest', 'oldest'])
})

test('every command and option is in each script', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const text = await script(shell)
    for (const { words, flags } of completions())
      for (const name of [...words, ...flags.map(({ flag }) => (shell === 'fish' ? flag.slice(2) : flag))])
        assert.ok(text.includes(name), `${shell}: ${name}`)
  }
})

test('another shell is refused by name', async () => {
  assert.deepEqual(await chainsieve(['completion', 'csh']), {
    code: 2,
    out: '',
    err: 'chainsieve: There is no completion for "csh": name bash, zsh, fish.\nchainsieve completion --help shows how to use it.\n',
  })
})

test('every command has its group, and one', () => {
  const all = grouped()
  assert.ok(!all.some(({ title }) => title === OTHERS), 'src/app/cli/usage.ts has a place for each')
  assert.deepEqual(
    all.flatMap(({ commands }) => commands.map(({ name }) => name)).toSorted(),
    COMMANDS.map(({ name }) => name).toSorted(),
  )
})

test('text is broken between words, and no word is lost', () => {
  assert.equal(
    wrapped('aa bbb c dddddddddd e', { width: 8, indent: 2, lead: '> ' }),
    '> aa bbb\n  c\n  dddddddddd\n  e',
  )
  assert.equal(wrapped('a b', { width: Number.POSITIVE_INFINITY, indent: 0, lead: '' }), 'a b')
})

test('help is as wide as the terminal', async () => {
  for (const columns of [40, 60, 80, 120])
    for (const argv of [['--help'], ...COMMANDS.map(({ name }) => [...name.split(' '), '--help'])]) {
      const stdout = Object.assign(collector(), { isTTY: true, columns })
      const streams = { stdin: process.stdin, stdout, stderr: collector() }
      await chainsieve(argv, { streams })
      const plain = (await chainsieve(argv)).out
      const words = (text: string) => text.split(/\s+/).join(' ')
      assert.equal(words(stdout.text()), words(plain), argv.join(' '))
      for (const line of stdout.text().split('\n'))
        assert.ok(line.length <= columns || /^ *(--\S+ )?\S+$/.test(line), `${columns}: ${line}`)
    }
})

test('the man page has every command and setting, and man reads it without a complaint', {
  skip: !has('groff'),
}, () => {
  const page = manPage('1.2.3')
  const { out, err } = run('groff', ['-man', '-Tutf8', '-ww', '-P-cbou', '-rLL=200n'], page)
  assert.equal(err, '')
  const text = out.replace(/\s+/g, ' ').replaceAll('‐', '-').replaceAll('−', '-')
  for (const { name, flags } of completions().map(({ words, ...it }) => ({ ...it, name: words.join(' ') }))) {
    assert.ok(text.includes(`chainsieve ${name}`), name)
    for (const { flag } of flags) assert.ok(text.includes(flag) || flag === '--help', flag)
  }
  assert.match(text, /CHAINSIEVE\(1\)/)
  assert.match(text, /Chainsieve 1\.2\.3/)
})

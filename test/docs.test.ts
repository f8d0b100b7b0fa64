import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PAGES, README, withGenerated } from '../scripts/docs.ts'
import { understand } from '../src/app/cli/arguments.ts'
import { COMMANDS } from '../src/app/cli/commands/index.ts'
import type { RawBlock } from '../src/chain/wire.ts'
import { loadConfig } from '../src/config/index.ts'
import { placesOf, settingRows } from '../src/config/settings.ts'
import { KINDS, queryPaths } from '../src/mapping/index.ts'
import { AGGREGATIONS } from '../src/query/aggs/kinds/index.ts'
import type { AggregationKind } from '../src/query/aggs/kinds/kind.ts'
import type { Clause } from '../src/query/dsl/clause.ts'
import { CLAUSES } from '../src/query/dsl/index.ts'
import { indexedValuesOf } from '../src/query/predicate.ts'
import { inNode } from '../src/query/simplify.ts'
import { start, tempFolder, until } from './e2e/program.ts'
import { gunzipLines } from './support/pack.ts'
import {
  ask,
  asShown,
  blocksOf,
  commandsOf,
  contributing,
  cookbookPage,
  PAGES_OF_USERS,
  requestOf,
  searchPage,
} from './support/readme.ts'
import { createTestStore } from './support/store.ts'

/** Whatever the README and the pages of docs/ show is run, and whatever they name has to be there. */
const root = dirname(fileURLToPath(README))
const { scripts, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
  version: string
}
const blocks = [...PAGES_OF_USERS.values()].flatMap(blocksOf)
const everything = [...PAGES_OF_USERS.values(), contributing].join('\n')
const shell = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => commandsOf(text))
/** Its rules send what they find, which e2e/cookbook.test.ts has them do. */
const cookbook = new Set(blocksOf(cookbookPage).map(({ text }) => text))

const demoBlocks = (): RawBlock[] =>
  gunzipLines(readFileSync(join(root, 'data/demo.ndjson.gz'))).map(line => JSON.parse(line) as RawBlock)

/** What stands around aggregations that need it. */
const AROUND: Record<string, object> = {
  reverse_nested: { nested: { path: 'args' } },
  rate: { date_histogram: { field: 'timestamp', calendar_interval: 'day' } },
}

test('commands of shell texts', () => {
  assert.deepEqual(commandsOf(`npm ci && npm start\ncurl -s http://a/b \\\n  -H "A: $B" -d '{\n "c": 1}'\n\n`), [
    ['npm', 'ci'],
    ['npm', 'start'],
    ['curl', '-s', 'http://a/b', '-H', 'A: $B', '-d', '{\n "c": 1}'],
  ])
})

test('the generated parts are those of the code (npm run docs writes them)', () => {
  for (const { name, url, parts } of PAGES) {
    const page = readFileSync(url, 'utf8')
    assert.equal(page, withGenerated(page, parts, name), name)
  }
})

describe('generated parts', () => {
  test('a place without a part, and a part without a place, are told', () => {
    assert.throws(
      () => withGenerated('<!-- generated: nothing -->\n<!-- end -->', { something: () => '' }, 'a page'),
      /there is no generated part nothing/,
    )
    assert.throws(
      () => withGenerated('# Nothing', { something: () => '' }, 'a page'),
      /a page has no place for .* something/,
    )
  })

  test('what stands between the marks is replaced, and nothing else', () => {
    const { name, parts } = PAGES.find(({ name }) => name === 'docs/settings.md')!
    const page = PAGES_OF_USERS.get(name)!
    const stale = page.replace('| `--port` |', '| `--door` |')
    assert.notEqual(stale, page)
    assert.equal(withGenerated(stale, parts, name), page)
  })
})

test('examples over HTTP answer what the docs show', async t => {
  const program = start(t, ['serve', '--port', '0', '--allow-target', '127.0.0.1/32'], { data: tempFolder(t) })
  const [, url = ''] = await program.says(/Serves +url=(\S+)/)
  const token = (await until(() => /Token: (cs_\S+)/.exec(program.out())?.[1], Boolean))!
  const search = (entities: string, body: unknown) =>
    ask(url, {
      method: 'POST',
      path: `/ethereum/demo/local/es/${entities}/search/`,
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })

  await t.test('npm start prints what is shown, and its curl line works', async () => {
    const shown = blocks.find(({ text }) => text.startsWith('Chainsieve serves the bundled demo chain'))!.text
    await until(program.out, out => out.trimEnd().endsWith(`"size":3}'`))
    assert.equal(program.out().trim().replaceAll(url, 'http://127.0.0.1:8640').replaceAll(token, 'cs_…'), shown.trim())
    const printed = commandsOf(shown.slice(shown.indexOf('curl -s')))[0]!
    const { answer } = await ask(url, requestOf(printed, token))
    const { hits } = answer as { hits: { hits: { _source: { event: string } }[] } }
    assert.deepEqual(
      hits.hits.map(({ _source }) => _source.event),
      ['Transfer', 'Transfer', 'Transfer'],
    )
  })

  let examples = 0
  for (const [i, { language, text }] of blocks.entries()) {
    const [words = []] = language === 'sh' ? commandsOf(text) : []
    if (words[0] !== 'curl' || cookbook.has(text)) continue
    examples++
    const request = requestOf(words, token)
    await t.test(`${request.method} ${request.path} ${request.body?.replace(/\s+/g, ' ') ?? ''}`, async () => {
      const shown = blocks[i + 1]!
      assert.equal(shown.language, 'json', 'no answer is shown')
      const due = JSON.parse(shown.text) as { status?: unknown }
      const { status, answer } = await ask(url, request)
      const shownStatus = typeof due.status === 'number' ? due.status : undefined
      assert.equal(status, shownStatus ?? (MAKES.test(`${request.method} ${request.path}`) ? 201 : 200))
      assert.deepEqual(asShown(answer, due), due)
    })
  }
  assert.ok(examples >= 12, `only ${examples} examples were found`)

  for (const [name, { example, on = 'event' }] of Object.entries<Clause>(CLAUSES))
    await t.test(`the example of ${name} is a query on ${on}`, async () => {
      const { status, answer } = await search(on, { query: { [name]: example } })
      assert.equal(status, 200, JSON.stringify(answer))
    })

  for (const [name, { example, on = 'event' }] of Object.entries<AggregationKind>(AGGREGATIONS))
    await t.test(`the example of ${name} is an aggregation of ${on}`, async () => {
      const one = { a: { [name]: example } }
      const outer = AROUND[name]
      const aggs = outer ? { n: { ...outer, aggs: one } } : one
      const { status, answer } = await search(on, { size: 0, aggs })
      assert.equal(status, 200, JSON.stringify(answer))
      assert.ok((answer as { aggregations: unknown }).aggregations)
    })

  await t.test('what is said not to be there is not there', async () => {
    const clauses = /Any other clause,\s+such as ([\s\S]*?), is refused/.exec(searchPage)![1]!
    for (const [, name] of clauses.matchAll(/`(\w+)`/g))
      assert.equal((await search('event', { query: { [name!]: { event: 'a' } } })).status, 400, name)
    for (const key of ['search_after', 'pit', 'slice', 'rescore', 'suggest'])
      assert.equal((await search('event', { [key]: { a: {} } })).status, 400, key)
  })
})

/** Requests that are answered 201. */
const MAKES = /^POST \/alerting\/rules\/$/

describe('command lines', () => {
  const lines = shell.filter(([word]) => word !== 'curl')

  for (const [program, ...words] of lines)
    test([program, ...words].join(' '), () => {
      // npx runs the package from its file.
      if (program === 'npx') assert.equal(words.shift(), `./chainsieve-${version}.tgz`)
      if (program === 'chainsieve' || program === 'npx') {
        assert.match(understand(words).wants, /^(run|version)$/)
        return
      }
      assert.equal(program, 'npm')
      checkNpm(words)
    })

  test('every npm script that is named is there', () => {
    for (const [, words] of everything.matchAll(/`npm ([^`]+)`/g))
      for (const command of words!.split(/ && (?:npm )?/)) checkNpm(command.split(' '))
  })

  test('every script that is named is there, and every script that others run is named', () => {
    for (const [, path] of everything.matchAll(/`node (scripts\/[\w/.-]+)/g))
      assert.ok(existsSync(join(root, path!)), path)
    const internal = ['prepare']
    for (const name of Object.keys(scripts).filter(name => !internal.includes(name)))
      assert.match(everything, new RegExp(`npm (run )?${name}\\b`), name)
  })
})

// npm would fetch what somebody else publishes under that name.
test('no name of a package that is not there is run, installed or fetched', () => {
  for (const [page, text] of PAGES_OF_USERS) {
    // Said where it is warned of.
    const runs = text.replaceAll('`npx chainsieve` outside of the checkout', '')
    assert.doesNotMatch(runs, /\b(npx|npm (exec|i|install|x)\b[^\n`]*?) (--?[\w-]+ )*chainsieve(?![-\w./]*\.tgz)/, page)
  }
})

test('no example asks or tells a host that is not the reader’s', () => {
  // Links are read by people. Names below .example are nobody's, and stand for the reader's own.
  const own = /^(127\.0\.0\.1|10\.0\.0\.7|localhost|host|chainsieve|[a-z]+\.example)$/
  for (const [page, text] of PAGES_OF_USERS)
    for (const [url] of text
      .replace(/\]\(https:[^)]*\)/g, '')
      .matchAll(/\b(?:https?|wss?|smtps?):\/\/(?=\w)[^\s"'`)<>]+/g)) {
      const host = /^\w+:\/\/(?:[^@/]*@)?([\w.-]*)/.exec(url)![1]!
      assert.match(host, own, `${page}: ${url}`)
    }
})

const checkNpm = ([command = '', ...rest]: string[]) => {
  if (command === 'ci' || command === 'pack') return
  if (command === 'install') return assert.match(rest.at(-1)!, new RegExp(`^\\./chainsieve-${version}\\.tgz$`))
  const script = command === 'run' ? rest[0]! : command
  assert.ok(script in scripts, `npm ${command} ${rest.join(' ')}`)
}

test('every flag that is named is one', () => {
  const known = new Set([
    '--help',
    '--version',
    ...settingRows().map(({ flag }) => flag),
    ...COMMANDS.flatMap(({ options }) => Object.keys(options).map(name => placesOf(name).flag)),
  ])
  // Shell texts are checked above.
  const prose = [...PAGES_OF_USERS.values(), contributing].join('\n').replace(/^```\w+\n[\s\S]*?^```$/gm, '')
  for (const [, own] of prose.matchAll(/`((?:--[a-z]|chainsieve |npm start )[^`]*)`/g))
    for (const [flag] of own!.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)) assert.ok(known.has(flag), flag)
})

test('config files are such, and the one of all settings is as it says', t => {
  const path = join(tempFolder(t), 'chainsieve.toml')
  const load = (text: string) => {
    writeFileSync(path, text)
    return loadConfig({ flags: { config: path }, env: {} })
  }
  const tomls = blocks.filter(({ language }) => language === 'toml')
  for (const { text } of tomls) load(text)
  const { networks, ...config } = load(tomls.find(({ text }) => text.includes('query-deadline'))!.text)
  assert.deepEqual(
    [config.host, config.queryDeadline, networks.map(({ network }) => network)],
    ['0.0.0.0', 5000, ['ethereum/ethereum/mainnet', 'ethereum/base/mainnet']],
  )
  const scopes = tomls.find(({ text }) => text.includes('networks.scopes'))
  assert.equal(load(scopes!.text).networks[0]!.scoping!.scopes.length, 2)
})

describe('links', () => {
  const anchorsOf = (page: string) =>
    new Set(
      Array.from(page.matchAll(/^#+ (.+)$/gm), ([, heading]) =>
        heading!
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      ),
    )

  for (const [path, page] of [...PAGES_OF_USERS, ['CONTRIBUTING.md', contributing] as const])
    test(`of ${path} lead to files and headings that are there`, () => {
      const targets = Array.from(page.matchAll(/\]\(([^)]+)\)/g), ([, target]) => target!)
      assert.ok(targets.length > 0, `only ${targets.length} links were found`)
      for (const target of targets) {
        if (target.startsWith('https://')) continue
        const [file, anchor] = target.split('#')
        const leads = file === '' ? join(root, path) : join(root, dirname(path), file!)
        assert.ok(existsSync(leads), target)
        if (anchor !== undefined) assert.ok(anchorsOf(readFileSync(leads, 'utf8')).has(anchor), target)
      }
    })

  test('say what they lead to', () => {
    for (const [, text, target] of everything.matchAll(/\[((?:src|test|data|scripts)\/[^\]]+)\]\(([^)]+)\)/g))
      assert.equal(text, target)
  })

  test('the recipes name files', () => {
    const recipes = contributing.split('## Recipes')[1]!.split('\n## ')[0]!.trim().split('\n\n')
    assert.deepEqual(
      recipes.map(recipe => /^\*\*(.+?)\.\*\*/.exec(recipe)?.[1]),
      [
        ...['A field', 'A kind', 'A query clause', 'An aggregation', 'A chain source', 'A channel'],
        ...['An endpoint', 'A command', 'A page of the console', 'A setting'],
      ],
    )
    for (const recipe of recipes) assert.ok((recipe.match(/\]\((src|test)\//g) ?? []).length >= 3, recipe)
  })
})

test('fields that are said to be found without looking at every document are', t => {
  const sentence = /What is found without looking at every document:([\s\S]*?) Any other/.exec(searchPage)![1]!
  const named = new Set(Array.from(sentence.matchAll(/`(\w+)`/g), ([, name]) => name!))
  const blocks = demoBlocks()
  // In block 240 is an event that does not decode.
  const store = createTestStore([...blocks.slice(0, 60), blocks[240]!])
  t.after(store.close)
  const checked = new Set<string>()
  for (const kind of KINDS) {
    const documents = store.all(kind)
    for (const field of queryPaths(kind).values()) {
      if (!named.has(field.field) || field.encoding === 'raw') continue
      const value = documents.flatMap(({ _source }) => indexedValuesOf(field, _source))[0]
      if (value === undefined) continue
      checked.add(field.field)
      const plan = store.plan(kind, inNode(field, [value]))
      assert.ok(!['columns', 'documents'].includes(plan.by), `${kind} ${field.path}: ${plan.by}`)
    }
  }
  assert.deepEqual(
    [...named].filter(name => !checked.has(name)),
    [],
  )
})

test('the change log tells of this version', () => {
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  assert.match(changes, new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\]`, 'm'))
})

import { chmodSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { cachedDataVersionTag } from 'node:v8'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { buildConsole } from './scripts/console/build.ts'

/**
 * `node build.ts` builds what the npm package has: `dist/chainsieve.mjs`, which any Node runs, and what it starts, which needs nothing of
 * node_modules. `node build.ts executable` builds `dist/chainsieve`, one file that needs nothing else on its platform.
 */
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

const common = (form: 'bundle' | 'executable'): BuildOptions => ({
  entryPoints: ['src/main.ts'],
  bundle: true,
  // Half the text to read at each start of a thread; names stay, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  platform: 'node',
  define: { CHAINSIEVE_FORM: JSON.stringify(form), CHAINSIEVE_VERSION: JSON.stringify(version) },
  legalComments: 'none',
  // A script that is run from what V8 made of it can require parts, and cannot import them.
  supported: { 'dynamic-import': false },
  // A text of one byte a character is read in half the time.
  charset: 'ascii',
  logLevel: 'warning',
})

/**
 * `chainsieve.mjs` looks at which Node this is, and `load.cjs` runs `chainsieve.cjs` from what V8 made of it. CommonJS, since an ES module that
 * imports a part of Node's has all its members looked at, which loads parts that nobody needs.
 */
const buildBundle = async () => {
  for (const [file, packages] of Map.groupBy(Object.keys(PARTS), name => PARTS[name]!))
    await build({
      ...common('bundle'),
      ...(packages.length === 1 ? { entryPoints: packages } : { entryPoints: undefined, stdin: exportsOf(packages) }),
      plugins: [withoutValidator],
      outfile: `dist/${file}`,
      format: 'cjs',
      target: 'node22',
    } as BuildOptions)
  rmSync('dist/prebuilds', { recursive: true, force: true })
  cpSync('node_modules/better-sqlite3/prebuilds', 'dist/prebuilds', { recursive: true })
  await build({
    ...common('bundle'),
    plugins: [
      {
        name: 'parts in files of their own',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^[\w@]/ }, ({ path }) =>
            Object.hasOwn(PARTS, path) ? { path: PARTS[path]!, external: true } : undefined,
          ),
      },
    ],
    outfile: 'dist/chainsieve.cjs',
    format: 'cjs',
    target: 'node22',
    define: { ...common('bundle').define, 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  })
  await build({
    entryPoints: ['src/start.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    // It also tells an old Node that it is too old.
    target: 'node18',
    external: ['./load.cjs'],
    outfile: 'dist/chainsieve.mjs',
    banner: { js: '#!/usr/bin/env node' },
    logLevel: 'warning',
  })
  await build({
    entryPoints: ['src/load.ts'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    outfile: 'dist/load.cjs',
    logLevel: 'warning',
  })
  // One letter beyond ASCII, as in a regular expression, doubles what each thread holds of the text.
  for (const path of ['./chainsieve.cjs', ...new Set(Object.values(PARTS))])
    if (readFileSync(join('dist', path)).some(byte => byte > 127))
      throw new Error(`dist/${path} is not ASCII: write other characters as escapes`)
  await makeDemo()
  await makeCache()
  const { manPage } = await import('./src/app/cli/usage.ts')
  writeFileSync('dist/chainsieve.1', manPage(version))
  // Without the executable bit npx says "Permission denied".
  chmodSync('dist/chainsieve.mjs', 0o755)
}

/** A part that holds several packages. */
const exportsOf = (packages: readonly string[]) => ({
  contents: packages.map(name => `export * from '${name}'`).join('\n'),
  resolveDir: process.cwd(),
})

/** A third of the library for agents validates what this program never asks of clients: src/mcp/server.ts. */
const withoutValidator: Plugin = {
  name: 'without a validator',
  setup: ({ onLoad }) =>
    onLoad({ filter: /@modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/ }, () => ({
      contents: "export { default as process } from 'node:process'\nexport class DefaultJsonSchemaValidator {}",
    })),
}

/** The store of the demo chain, which both forms ship, so that a first start need not import it. */
const makeDemo = async (): Promise<string> => {
  const { makeDemoStore } = await import('./scripts/demo/store.ts')
  const { DEMO_STORE } = await import('./src/dev/demo.ts')
  const output = `dist/${DEMO_STORE}`
  await makeDemoStore(output)
  return output
}

/** What this V8 makes of the bundle; the file's name tells which V8 that is. */
const makeCache = async () => {
  const { warmCache } = await import('./scripts/executable/warm.ts')
  for (const old of globSync('dist/chainsieve-*.cache')) rmSync(old)
  const path = resolve('dist/chainsieve.cjs')
  const text = `(function (exports, require, module, __filename, __dirname) {${readFileSync(path, 'latin1')}\n})`
  writeFileSync(`dist/chainsieve-${cachedDataVersionTag()}.cache`, warmCache({ text, path }))
}

/** Parts in files of their own. The clients are half of the text, and the thread that answers needs none of them; imports of era1 files alone need the curve; SQLite finds its native part beside it. */
const PARTS: Readonly<Record<string, string>> = {
  undici: './undici.cjs',
  nodemailer: './nodemailer.cjs',
  '@modelcontextprotocol/server': './mcp.cjs',
  '@modelcontextprotocol/server/stdio': './mcp.cjs',
  'better-sqlite3': './sqlite/better-sqlite3.cjs',
  '@bitauth/libauth/build/lib/crypto/secp256k1.js': './secp256k1.cjs',
}

/** `--platform` names platforms, separated by commas or repeated; without it, the executable of this one is `dist/chainsieve`. */
const buildExecutable = async (args: string[]) => {
  const { buildExecutables } = await import('./scripts/executable/build.ts')
  const { native, PLATFORMS, platformsOf } = await import('./scripts/executable/platforms.ts')
  const { values } = parseArgs({ args, options: { platform: { type: 'string', multiple: true } } })
  const named = values.platform?.flatMap(names => names.split(','))
  if (!named && !native)
    throw new Error(
      `No executable is made for ${process.platform} on ${process.arch}; npm pack makes a package that runs`,
    )
  const targets = named
    ? platformsOf(named).map(platform => ({
        platform,
        output: `dist/release/chainsieve-${version}-${platform}${PLATFORMS[platform].suffix}`,
      }))
    : [{ platform: native!, output: `dist/chainsieve${PLATFORMS[native!].suffix}` }]
  await buildExecutables(common('executable'), targets, { 'demo-store.zst': await makeDemo() })
}

const [what, ...args] = process.argv.slice(2)
await buildConsole(version)
await (what === 'executable' ? buildExecutable(args) : buildBundle())

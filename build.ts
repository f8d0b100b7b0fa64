import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

/**
 * `node build.ts` builds `dist/chainsieve.mjs`, main program and worker threads in one file; native packages stay in node_modules.
 * `node build.ts executable` builds `dist/chainsieve`, one file that needs nothing else on its platform.
 */
const { version, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string
  optionalDependencies: Record<string, string>
}

const common = (form: 'bundle' | 'executable'): BuildOptions => ({
  entryPoints: ['src/main.ts'],
  bundle: true,
  // Half the text to read at each start of a thread; names stay, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  platform: 'node',
  define: { CHAINSIEVE_FORM: JSON.stringify(form), CHAINSIEVE_VERSION: JSON.stringify(version) },
  legalComments: 'none',
  // A text of one byte a character is read in half the time.
  charset: 'ascii',
  logLevel: 'warning',
})

/**
 * `chainsieve.mjs` only starts `chainsieve.cjs`, so that Node can keep what V8 compiled of the program: that is told before the program is
 * read. CommonJS, since an ES module that imports a part of Node's has all its members looked at, which loads parts that nobody needs.
 */
const buildBundle = async () => {
  for (const name of CLIENTS)
    await build({
      ...common('bundle'),
      entryPoints: [name],
      outfile: `dist/${name}.cjs`,
      format: 'cjs',
      target: 'node22',
    })
  await build({
    ...common('bundle'),
    plugins: [
      {
        name: 'clients in files of their own',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\w+$/ }, ({ path }) =>
            CLIENTS.includes(path) ? { path: `./${path}.cjs`, external: true } : undefined,
          ),
      },
    ],
    outfile: 'dist/chainsieve.cjs',
    format: 'cjs',
    target: 'node22',
    external: ['better-sqlite3'],
    define: { ...common('bundle').define, 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  })
  await build({
    entryPoints: ['src/start.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    external: ['./chainsieve.cjs'],
    outfile: 'dist/chainsieve.mjs',
    banner: { js: '#!/usr/bin/env node' },
    logLevel: 'warning',
  })
  // One letter beyond ASCII, as in a regular expression, doubles what each thread holds of the text.
  for (const name of ['chainsieve', ...CLIENTS])
    if (readFileSync(`dist/${name}.cjs`).some(byte => byte > 127))
      throw new Error(`dist/${name}.cjs is not ASCII: write what is not as an escape`)
  // Without the executable bit npx says "Permission denied".
  chmodSync('dist/chainsieve.mjs', 0o755)
}

/** They are half of the text, and the thread that answers needs none of them: what needs one loads it. */
const CLIENTS = ['undici', 'nodemailer']

const buildExecutable = async () => {
  const { makeExecutable, makeWorkerAssets } = await import('./scripts/executable/make.ts')
  const wanted = optionalDependencies[`node-${process.platform}-${process.arch}`]
  if (wanted !== process.versions.node)
    throw new Error(
      `The executable embeds the Node that builds it, which is ${process.versions.node} and not ${wanted}: run npm run build:executable after npm ci`,
    )
  const folder = mkdtempSync('dist/script-')
  try {
    const script = join(folder, 'chainsieve.cjs')
    const options = common('executable')
    await build({
      ...options,
      outfile: script,
      format: 'cjs',
      target: 'node24',
      define: { ...options.define, 'import.meta.url': 'executableUrl' },
      banner: { js: "const executableUrl = require('node:url').pathToFileURL(process.execPath).href;" },
      plugins: [
        {
          name: 'native code from assets',
          setup: ({ onResolve }) =>
            onResolve({ filter: /^\.\/binding$/ }, ({ importer }) =>
              importer.includes('better-sqlite3') ? { path: resolve('src/lib/runtime.ts') } : undefined,
            ),
        },
      ],
    })
    const { getPrebuildPath } = createRequire(import.meta.url)('./node_modules/better-sqlite3/lib/binding.js') as {
      getPrebuildPath: () => string
    }
    const data = globSync('data/*.{txt,json,gz,bin}').map(file => [basename(file), file])
    const worker = makeWorkerAssets(script)
    makeExecutable({
      script,
      assets: {
        ...Object.fromEntries(data),
        'worker.js': worker.source,
        'worker.cache': worker.cache,
        'better_sqlite3.node': getPrebuildPath(),
      },
      output: 'dist/chainsieve',
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

await (process.argv[2] === 'executable' ? buildExecutable() : buildBundle())

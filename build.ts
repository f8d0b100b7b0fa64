import { chmodSync, readFileSync } from 'node:fs'
import { build } from 'esbuild'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

/** Builds `dist/chainsieve.mjs`: main program and worker threads in one file; native packages stay in node_modules. */
await build({
  entryPoints: ['src/main.ts'],
  outfile: 'dist/chainsieve.mjs',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  define: { CHAINSIEVE_FORM: '"bundle"', CHAINSIEVE_VERSION: JSON.stringify(version) },
  external: ['better-sqlite3', 'sqlite-vec'],
  // Bundled CommonJS packages call require(); an ES module has none of its own.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  legalComments: 'none',
  logLevel: 'warning',
})
// Without the executable bit npx says "Permission denied".
chmodSync('dist/chainsieve.mjs', 0o755)

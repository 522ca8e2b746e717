import { describe, expect, it } from "vitest";
import { findSecret, tellsSecret } from "../../../src/core/text/find-secret.ts";

// In pieces, so that no scanner of this repository takes them for real ones.
const join = (...parts: string[]): string => parts.join("");

describe("findSecret", () => {
  it.each([
    ["a PEM key", join("-----BEGIN ", "RSA PRIVATE KEY-----\nMIIEow")],
    ["an unencrypted PEM key", join("-----BEGIN ", "PRIVATE KEY-----")],
    ["an OpenSSH key", join("-----BEGIN ", "OPENSSH PRIVATE KEY-----")],
    ["a PGP key", join("-----BEGIN ", "PGP PRIVATE KEY BLOCK-----")],
    ["an AWS key id", join("the id is AKIA", "IOSFODNN7EXAMPLE.")],
    ["an AWS secret", join("aws_secret_access_key = wJalrXUtnFEMI/", "K7MDENG/bPxRfiCYEXAMPLEKEY")],
    ["a GitHub token", join("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a")],
    ["a fine-grained GitHub token", join("github_pat_", "11ABCDEFG0123456789_abcdefghijklmnop")],
    ["a Slack bot token", join("xoxb-", "123456789012-abcdefGHIJKL")],
    [
      "a JSON Web Token",
      join("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w5N_XgL0"),
    ],
    ["an OpenAI-like key", join("sk-", "proj-aB3dE5fG7hI9jK1lM3nO5pQ7rS9t")],
    ["an older one", join("sk-", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9dE1fG3")],
    ["an Anthropic-like key", join("sk-", "ant-api03-aB3dE5-fG7hI9jK1lM3nO5pQ7rS9t_U1vW3xY5")],
    ["a password in JSON", '{"password": "k9#mQ2$vX7!pL4zR"}'],
    ["a token in an environment file", "DEPLOY_TOKEN=f8Kq2mZx91LpWv7TyRb3"],
    ["a hexadecimal key", "api-key: 9f86d081884c7d659a2feaa0c55ad015"],
    ["a short password", "password: hunter2hunter2"],
    ["one of an environment file", "DB_PASSWORD=Sup3rS3cret9x"],
    ["one with signs", "password=Sup3rS3cret!9x"],
    ["one in quotes", 'pwd = "Tr0ub4dor&3x"'],
    ["one without digits", "passwd: Tr!cky$ecret"],
    ["one at the end of a sentence", "The admin password is: Winter2026!."],
    ["one in camel case", "dbPassword: 'summer2024'"],
    ["one in bold", "**Password:** hunter2hunter2"],
    ["one in pieces", "userPassphrase := c0rrect-h0rse"],
    ["a client's secret", "clientSecret: 'a8f5f167f44f'"],
    ["a short token in an address", "https://example.org/reset?token=9fa3kd82&next=/home"],
    ["a short API key", "API key: k3y4weather"],
    ["a secret key", "SECRET_KEY: dj4ng0dj4ng0"],
    ["one like a version", "password=v3ryS3cr3t"],
    ["one that names itself", "password=MySecret12 token=Sup3rSecret1"],
    ["one with brackets", "password=S3cr3t!(x9"],
    ["an access key", '"accessKey": "minio7admin3"'],
    ["a password in an address", "postgres://app:S3cr3tPa55@db.internal/app"],
    ["one without a user", "redis://:geh3imNis77@cache.local:6379"],
    ["one of a shortened name", "DB_PASS=Quelle9Fluss2"],
    ["one of a wireless network", "WLAN-Schlüssel: Bq7K-93mP-zz41"],
    ["a Russian one of something", "пароль от wifi: zima77Leto3"],
  ])("sees %s", (_what, text) => {
    expect(findSecret(`Note: ${text} and more`)).toBeTypeOf("string");
  });

  it.each([
    ["prose about secrets", "The API key lives in 1Password under memoryd; rotate the token every March."],
    ["a public key", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBg"],
    ["a certificate", "-----BEGIN CERTIFICATE-----\nMIID"],
    ["a commit", "Fixed in 3f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39."],
    ["a UUID", "memory 019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e"],
    ["a checksum", "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    ["a placeholder", "export API_KEY=${OPENAI_API_KEY_PRODUCTION}"],
    ["code that reads one", 'const token = process.env.GITHUB_TOKEN_2; password = getPassword2("admin")'],
    ["an example", "api_key = your-api-key-goes-here-123"],
    ["a short password in prose", "The password was hunter2, long gone."],
    ["names with hyphens", "sk-learn-pipelines-for-text-classification works"],
    ["an address", "https://example.org/login?next=/a/b/c and git@github.com:ada/notes.git"],
    ["a repeated word", "token: aaaaaaaaaaaaaaaaaaaa1"],
    ["tokens counted", "max_tokens: 1500, token budget = 20000 for gpt-4o-mini-2024-07-18"],
    ["where a password is", "Password: see the vault. password: 1Password, entry 'memoryd2go'"],
    ["where a secret is", "secret: op://Private/db2024x/password, token: vault:kv/app2prod"],
    ["what a token is", "token: number of word pieces, 96 in a window"],
    ["a rule for passwords", "password: required, 8-16 characters; pwd: optional"],
    ["a password in prose", "The wifi password at the cabin is larch-42-otter."],
    ["a password made of words", "wifi password: larch-42-otter"],
    ["placeholders", "password: <password2go>, pwd=${DB_PASSWORD_2}, token=xxxxx12345, secret: *****12345"],
    ["more placeholders", "password=changeme123, api_key=your-key-123abc, secret={{ vault_pass_2go }}"],
    ["types", "password: string; token: null; secret: true; token: Uint8Array; apiKey: undefined"],
    [
      "an environment variable",
      "token: process.env.GITHUB2_TOKEN2, secret = os.environ2['S3CRET1'], pwd=$PW2",
    ],
    ["names of variables", "password: password2, token = userToken1, apiKey: cfg.api2.key3, pwd: newSecret"],
    ["calls", "password: hash2x4(given), token = await sign2x4Jwt(user2)"],
    ["how tokens are made", "token: OAuth2-based; secret: base64-encoded; password: argon2id or bcrypt12"],
    ["algorithms", "access token: RS256/ES256, API key: SHA-256/sha512, private key: id_ed25519"],
    [
      "how long tokens live",
      "token: 15-minute expiry, tokenExpires: 2026-11-22T03:24Z, token: 2026-11-22T03:24Z",
    ],
    [
      "what only begins like a secret",
      "token_count: a1b2c3d4e5, tokenizer: cl100k_base2x, password_hint: dog4ever",
    ],
    ["paths", "PWD=/home/ada/project2x4, private key: keys/prod2024.pem, secret: ~/.config/s3cr3tx"],
    [
      "an address of mail",
      "credentials and password: ask ada2lovelace@example.org; token: ada2lovelace@example.org",
    ],
    ["comparisons", "if (token ==otherToken2x) and password => hash2x(password)"],
    ["where an image is stored", "storage key: images/2026/11/27/a81f33.webp"],
    ["where a Japanese password is", "パスワード：金庫の中、封筒3"],
    ["a boarding pass", "The boarding pass: seat 14C, gate B27x; bypass=always2on"],
    ["a chat handle", "Slack: ask in #xoxo-team-channel"],
  ])("takes no offence at %s", (_what, text) => {
    expect(findSecret(text)).toBeUndefined();
  });

  it("is done with a long text in no time", () => {
    const text =
      "password: ".repeat(20_000) +
      "pwd=".repeat(20_000) +
      "secret: a.a.".repeat(20_000) +
      "a:".repeat(50_000) +
      "eyJ".repeat(20_000) +
      "sk-".repeat(20_000) +
      "xoxb-".repeat(40_000);
    expect(findSecret(text)).toBeUndefined();
  });
});

describe("tellsSecret", () => {
  it.each([
    "My password for the staging DB is Tr0ub4dor&3 so use that.",
    "The wifi password at home is swordfish",
    'Our passphrase is "correct horse battery staple".',
    "The PIN for the alarm is 4711.",
    "The passcode = 8812#",
    "The API key for the weather service is k3y4weather",
    "The password that Ilse set yesterday is Winter!2026",
    "Das Passwort für die Staging-DB ist Tr0ub4dor&3, nimm das.",
    "Le mot de passe de la base est Tr0ub4dor&3.",
    "La contraseña de staging es Tr0ub4dor&3",
    "La password del server è Tr0ub4dor&3",
    "A senha do servidor é Tr0ub4dor&3",
    "Het wachtwoord voor staging is Tr0ub4dor&3.",
    "Use Tr0ub4dor&3 as the password for staging.",
    "I changed the admin password to Tr0ub4dor&3 yesterday.",
    "The key is password=v3ryS3cr3t",
    "I prefer that you use hunter2 as the password for the test user.",
    "Please remember: swordfish is the password for staging.",
    "Login is bob and pw is swordfish, remember that.",
    "The password will be swordfish, from now on.",
    "le mot de passe, c'est chaton",
  ])("sees %j", (text) => expect(tellsSecret(text)).toBe(true));

  it.each([
    "The password policy is strict.",
    "The password manager is 1Password.",
    "The API key is stored in 1Password under memoryd.",
    "Passwords are at least 12 characters long.",
    "The token limit is 4096 tokens.",
    "The tokenizer is WordPiece.",
    "The secretary is Maria.",
    "We pin the version of Node to 20.19.",
    "The token endpoint is https://auth.example.org/token2",
  ])("takes %j for none", (text) => expect(tellsSecret(text)).toBe(false));
});

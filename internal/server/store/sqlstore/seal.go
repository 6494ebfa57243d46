package sqlstore

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// sealer encrypts secrets. A sealed value is: format byte, 32 random bytes, AES-256-GCM of the text. The key of each
// value is HKDF-SHA256 of the passphrase with those random bytes as salt, so it is used once and the GCM nonce is zero.
// The purpose is authenticated: a value cannot be moved to another column.
type sealer struct{ passphrase []byte }

const (
	sealFormat = 1
	saltLength = 32
)

// errSealed is the answer to a value that does not open; it says nothing about the value.
var errSealed = errors.New("the secret cannot be opened: the passphrase is another one, or the value is damaged")

func newSealer(passphrase string) *sealer { return &sealer{passphrase: []byte(passphrase)} }

func (s *sealer) aead(salt []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, s.passphrase, salt, "garm-operator/sealed-secret/v1", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (s *sealer) seal(purpose string, text []byte) ([]byte, error) {
	sealed := make([]byte, 1+saltLength)
	sealed[0] = sealFormat
	if _, err := rand.Read(sealed[1:]); err != nil {
		return nil, err
	}
	aead, err := s.aead(sealed[1:])
	if err != nil {
		return nil, err
	}
	return aead.Seal(sealed, make([]byte, aead.NonceSize()), text, []byte(purpose)), nil
}

func (s *sealer) open(purpose string, sealed []byte) ([]byte, error) {
	if len(sealed) < 1+saltLength || sealed[0] != sealFormat {
		return nil, errSealed
	}
	aead, err := s.aead(sealed[1 : 1+saltLength])
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, make([]byte, aead.NonceSize()), sealed[1+saltLength:], []byte(purpose))
	if err != nil {
		return nil, errSealed
	}
	return text, nil
}

func (s *sealer) sealJSON(purpose string, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("sealing %s: %w", purpose, err)
	}
	return s.seal(purpose, text)
}

func (s *sealer) openJSON(purpose string, sealed []byte, value any) error {
	text, err := s.open(purpose, sealed)
	if err != nil {
		return fmt.Errorf("opening %s: %w", purpose, err)
	}
	return json.Unmarshal(text, value)
}

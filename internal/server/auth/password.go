package auth

import (
	"crypto/rand"
	"fmt"
	"sync"

	"github.com/trustelem/zxcvbn"
	"golang.org/x/crypto/bcrypt"
)

// strongScore is the zxcvbn score (of 0 to 4) that a password must reach.
const strongScore = 4

// Strong says whether a password is hard enough to guess.
func Strong(password string) bool {
	return zxcvbn.PasswordStrength(password, nil).Score >= strongScore
}

// HashPassword returns what is stored of a password. The cost is the power of two of the work that a check takes; 0 means
// bcrypt's default. A password of more than 72 bytes is an error.
func HashPassword(password string, cost int) ([]byte, error) {
	if cost == 0 {
		cost = bcrypt.DefaultCost
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), cost)
	if err != nil {
		return nil, fmt.Errorf("hashing the password: %w", err)
	}
	return hash, nil
}

// nobody is compared with where there is no user, so that the time of an answer does not tell which names exist.
var nobody = sync.OnceValue(func() []byte {
	hash, err := bcrypt.GenerateFromPassword([]byte(rand.Text()), bcrypt.DefaultCost)
	if err != nil {
		return nil
	}
	return hash
})

// CheckPassword says whether a password belongs to a hash; an empty hash belongs to none.
func CheckPassword(hash []byte, password string) bool {
	if len(hash) == 0 {
		_ = bcrypt.CompareHashAndPassword(nobody(), []byte(password))
		return false
	}
	return bcrypt.CompareHashAndPassword(hash, []byte(password)) == nil
}
